"""A parser of our own: from sentences to trees and k-best lists."""
