# Data: loaders of samples, rows of Python samples into feeds, and the data sets of the chapters of the book.
"""A Loader shuffles, maps, batches and prefetches samples, and resumes in the middle of an epoch; `batch` and `shuffle` are
the plain generators that it uses.

Each module of a data set has load(path), which reads the original files, and synthetic(seed), data of the
same structure with something to learn in it. Nothing is downloaded. Both give a DataSet.

    books = pm.data.imikolov.synthetic()
    feeder = pm.data.DataFeeder([first, second, label])
    for rows in pm.data.batch(pm.data.shuffle(books.train, 1000, seed=0), 32):
        exe.run(feed=feeder.feed(rows))
"""

from ..renamed import show_public
from . import cifar, conll05, imdb, imikolov, mnist, movielens, uci_housing, wmt16
from .dataset import DataSet
from .feeder import DataFeeder
from .loader import Loader
from .reader import batch, shuffle

__all__ = [
    "DataFeeder",
    "DataSet",
    "Loader",
    "batch",
    "cifar",
    "conll05",
    "imdb",
    "imikolov",
    "mnist",
    "movielens",
    "shuffle",
    "uci_housing",
    "wmt16",
]

show_public(globals())
