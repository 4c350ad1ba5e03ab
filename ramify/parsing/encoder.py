"""Encoder: what a word looks like (itself, its characters, its vector), and what the sentence makes of it (LSTMs)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ramify.parsing.examples import Batch
from ramify.parsing.lexicon import PAD, UNK, Lexicon
from ramify.parsing.recipe import ParserConfig


def same_dropout(states: Tensor, rate: float, training: bool) -> Tensor:
    """Dropout of features [B, T, D], the same ones for all words of a sentence (Gal and Ghahramani 2016)."""
    if not training or not rate:
        return states
    kept = torch.rand(len(states), 1, states.shape[2], device=states.device) >= rate
    return states * (kept / (1 - rate)).to(states.dtype)


class Spelling(nn.Module):
    """Characters to a word: convolutions over three of them, and the largest of each."""

    def __init__(self, n_characters: int, size: int, filters: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n_characters, size, PAD)
        self.convolution = nn.Conv1d(size, filters, 3, padding=1)

    def forward(self, spellings: Tensor) -> Tensor:
        """[U, C] to [U, F]."""
        found = self.convolution(self.embedding(spellings).transpose(1, 2))
        found = found.masked_fill((spellings == PAD)[:, None], -1e4)
        strongest: Tensor = found.amax(2).relu()
        return strongest


class Encoder(nn.Module):
    """A batch to states [B, T, 2H]: those of the first layer, and those of the last."""

    vectors: Tensor

    def __init__(self, config: ParserConfig, lexicon: Lexicon) -> None:
        super().__init__()
        self.dropout, self.word_dropout = config.dropout, config.word_dropout
        self.words = nn.Embedding(len(lexicon.words), config.words, PAD)
        nn.init.normal_(self.words.weight[UNK:], std=0.1)  # next to nothing, until a word is known well
        self.spelling = Spelling(len(lexicon.characters), config.characters, config.filters)
        width = config.words + config.filters + config.vectors
        n_vectors = len(lexicon.pretrained) if config.vectors else 0
        self.register_buffer("vectors", torch.zeros(n_vectors, config.vectors, dtype=torch.float16))
        self.layers = nn.ModuleList(
            nn.LSTM(2 * config.hidden if number else width, config.hidden, batch_first=True, bidirectional=True)
            for number in range(config.layers)
        )

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        words = batch.words
        if self.training and self.word_dropout:
            hidden = (torch.rand(words.shape, device=words.device) < self.word_dropout) & (words > UNK)
            words = words.masked_fill(hidden, UNK)
        seen = [self.words(words), self.spelling(batch.spellings)[batch.forms]]
        if len(self.vectors):
            seen.append(self.vectors[batch.vectors].float())
        states = torch.cat([same_dropout(each, self.dropout, self.training) for each in seen], 2)
        first = None
        for layer in self.layers:
            packed = pack_padded_sequence(states, batch.lengths, batch_first=True)
            states, _ = pad_packed_sequence(layer(packed)[0], batch_first=True)
            states = same_dropout(states, self.dropout, self.training)
            first = states if first is None else first
        assert first is not None
        return first, states
