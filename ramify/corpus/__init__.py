"""Trees as numbers: the vocabulary, the corpus and its store on disk, and level-sorted batches."""

from ramify.corpus.batch import Batch, build_batch
from ramify.corpus.corpus import Corpus
from ramify.corpus.encode import Encoding, encode, encode_trees
from ramify.corpus.loader import Loader, Mixture
from ramify.corpus.schedule import EpochPlan, Schedule
from ramify.corpus.sequence import SequenceBatch, build_sequence_batch
from ramify.corpus.shard import Reading
from ramify.corpus.store import encode_to_store, is_store, open_store, save_store
from ramify.corpus.vocabulary import Vocabulary

__all__ = [
    "Batch",
    "Corpus",
    "Encoding",
    "EpochPlan",
    "Loader",
    "Mixture",
    "Reading",
    "Schedule",
    "SequenceBatch",
    "Vocabulary",
    "build_batch",
    "build_sequence_batch",
    "encode",
    "encode_to_store",
    "encode_trees",
    "is_store",
    "open_store",
    "save_store",
]
