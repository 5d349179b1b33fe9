# Data sets: the original files, written small, and their generated substitutes.
import gzip
import io
import struct
import tarfile
import zipfile

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import data

MODULES = ["uci_housing", "mnist", "cifar", "imikolov", "movielens", "imdb", "conll05", "wmt16"]


def write_tar(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return path


def write_folder(path, files):
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def same(a, b):
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b)


@pytest.mark.parametrize("name", MODULES)
def test_synthetic_data_come_from_their_seed(name):
    make = getattr(data, name).synthetic
    first, again, other = make(0), make(0), make(1)
    assert same(first.train[0], again.train[0]) and same(first.test[-1], again.test[-1])
    assert not same([first.train[i] for i in range(20)], [other.train[i] for i in range(20)])
    assert len(first.train) > len(first.test) > 0
    for words in first.vocabularies.values():
        assert sorted(words.values()) == list(range(len(words)))


@pytest.mark.parametrize("name", MODULES)
def test_files_that_are_not_there(name, tmp_path):
    with pytest.raises(pm.ProgramError, match="has no|lacks|can't read"):
        getattr(data, name).load(tmp_path)
    with pytest.raises(pm.ProgramError, match="can't read"):
        getattr(data, name).load(tmp_path / "nothing.data")


def test_uci_housing(tmp_path):
    rows = np.arange(10 * 14).reshape(10, 14) * 1.5
    rows[:, 3] = 7
    (tmp_path / "housing.data").write_text("\n".join(" ".join(f"{v:8.2f}" for v in row) for row in rows))
    read = data.uci_housing.load(tmp_path)
    assert len(read.train) == 8 and len(read.test) == 2
    x = np.array([sample[0] for sample in read.train])
    np.testing.assert_allclose(x.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(np.ptp(x, axis=0), [1, 1, 1, 0, *[1] * 9], rtol=1e-6)
    assert read.test[1][1] == rows[9, 13] and read.test[0][0].dtype == np.float32
    (tmp_path / "housing.data").write_text("1 2 3\n")
    with pytest.raises(pm.ProgramError, match=r"must be \[506, 14\]"):
        data.uci_housing.load(tmp_path / "housing.data")


def idx(array):
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.astype("u1").tobytes()


def test_mnist(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (5, 28, 28))
    labels = np.array([3, 1, 4, 1, 5])
    write_folder(
        tmp_path,
        {
            "train-images-idx3-ubyte.gz": gzip.compress(idx(images)),
            "train-labels-idx1-ubyte.gz": gzip.compress(idx(labels)),
            "t10k-images-idx3-ubyte": idx(images[:2]),
            "t10k-labels-idx1-ubyte": idx(labels[:2]),
        },
    )
    read = data.mnist.load(tmp_path)
    assert (len(read.train), len(read.test)) == (5, 2) and len(read.train[1:3]) == 2
    image, label = read.train[4]
    assert label == 5 and image.dtype == np.float32 and image.shape == (1, 28, 28)
    np.testing.assert_allclose(image[0], images[4] / 127.5 - 1, atol=1e-6)
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(idx(labels)[:-1])
    with pytest.raises(pm.ProgramError, match=r"declares \[5\] bytes, it holds 4"):
        data.mnist.load(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(idx(labels))
    with pytest.raises(pm.ProgramError, match="don't belong together"):
        data.mnist.load(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(labels))[:-9])
    with pytest.raises(pm.ProgramError, match="can't read"):
        data.mnist.load(tmp_path)


def cifar_batch(pixels, labels):
    """Pickles as Python 2 does, protocol 2: text for bytes, ndarray._reconstruct for arrays."""
    return (
        b"\x80\x02}q\x01(U\x04dataq\x02cnumpy.core.multiarray\n_reconstruct\nq\x03cnumpy\nndarray\nq\x04K\x00\x85"
        b"U\x01b\x87Rq\x05(K\x01K" + bytes([len(pixels)]) + b"M\x00\x0c\x86cnumpy\ndtype\nq\x06U\x02u1K\x00K\x01\x87R"
        b"q\x07(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T"
        + struct.pack("<I", pixels.size)
        + pixels.tobytes()
        + b"tbU\x06labelsq\x08]q\x09("
        + b"".join(b"K" + bytes([v]) for v in labels)
        + b"eu."
    )


def test_cifar(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (2, 3072)).astype("u1")
    folder = "cifar-10-batches-py/"
    files = {f"{folder}data_batch_{i}": cifar_batch(pixels, [i, 9]) for i in (2, 1, 3)}
    files |= {folder + "test_batch": cifar_batch(pixels[:1], [7]), folder + "batches.meta": b"no pickle"}
    read = data.cifar.load(write_tar(tmp_path / "cifar-10-python.tar.gz", files))
    assert [label for _, label in read.train] == [1, 9, 2, 9, 3, 9] and read.test[0][1] == 7
    image = read.train[5][0]
    np.testing.assert_allclose(image, pixels[1].reshape(3, 32, 32) / 255, atol=1e-6)
    assert image.dtype == np.float32
    files[folder + "test_batch"] = cifar_batch(pixels, [7])
    with pytest.raises(pm.ProgramError, match="holds no images of CIFAR-10"):
        data.cifar.load(write_folder(tmp_path / "a", files))
    files[folder + "test_batch"] = b"\x80\x02cos\nsystem\nU\x04trueR."
    with pytest.raises(pm.ProgramError, match="nothing is run"):
        data.cifar.load(write_folder(tmp_path / "b", files))
    files[folder + "test_batch"] = cifar_batch(pixels, [7, 10])
    with pytest.raises(pm.ProgramError, match="not 0 .. 9"):
        data.cifar.load(write_folder(tmp_path / "c", files))


def test_imikolov(tmp_path):
    files = {
        "./simple-examples/data/ptb.train.txt": b" the cat sat \n the dog sat \n the <unk> sat \n",
        "./simple-examples/data/ptb.valid.txt": b" the cow sat \n",
    }
    read = data.imikolov.load(write_tar(tmp_path / "simple-examples.tgz", files), n=3, min_word_freq=1)
    words = read.vocabularies["words"]
    assert words == {"<e>": 0, "<s>": 1, "sat": 2, "the": 3, "<unk>": 4}
    assert read.train[:3] == [(1, 3, 4), (3, 4, 2), (4, 2, 0)] and len(read.train) == 9 and len(read.test) == 3
    with pytest.raises(pm.ProgramError, match="at least 2"):
        data.imikolov.load(tmp_path / "simple-examples.tgz", n=1)


def test_movielens(tmp_path):
    files = {
        "ml-1m/users.dat": b"1::F::1::10::48067\n12::M::56::16::70072\n",
        "ml-1m/movies.dat": "7::Amélie (2001)::Comedy|Romance\n9::Heat (1995)::Action\n".encode("latin-1"),
        "ml-1m/ratings.dat": b"1::7::5::978300760\n12::9::2::978300761\n",
    }
    with zipfile.ZipFile(tmp_path / "ml-1m.zip", "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    read = data.movielens.load(tmp_path / "ml-1m.zip", test_ratio=0)
    known = read.vocabularies
    assert known["words"].keys() == {"amélie", "heat"} and known["kinds"].keys() == {"Action", "Comedy", "Romance"}
    assert read.train[0][:5] == (0, 0, 0, 0, 0) and read.train[1][:5] == (1, 1, 1, 1, 1) and read.test == []
    assert read.train[0][5] == [known["kinds"][kind] for kind in ("Comedy", "Romance")]
    assert [sample[7].tolist() for sample in read.train] == [[5.0], [-1.0]]
    files["ml-1m/ratings.dat"] += b"1::8::5::978300760\n"
    with pytest.raises(pm.ProgramError, match="5 stars by user 1 of film 8"):
        data.movielens.load(write_folder(tmp_path / "a", files))
    files["ml-1m/ratings.dat"] = b"1::7::5\n"
    with pytest.raises(pm.ProgramError, match="line 1 of 'ratings.dat' has 3 fields"):
        data.movielens.load(write_folder(tmp_path / "a", files))


def test_imdb(tmp_path):
    files = {
        "aclImdb/train/pos/0_9.txt": b"Good, good film!",
        "aclImdb/train/neg/0_1.txt": b"A bad <br /> film.",
        "aclImdb/test/pos/0_9.txt": b"good ending",
        "aclImdb/test/neg/0_1.txt": b"bad",
        "aclImdb/train/unsup/0_0.txt": b"neither",
    }
    for path in write_tar(tmp_path / "aclImdb_v1.tar.gz", files), write_folder(tmp_path / "a", files):
        read = data.imdb.load(path, min_word_freq=0)
        words = read.vocabularies["words"]
        assert words == {"film": 0, "good": 1, "a": 2, "bad": 3, "br": 4, "<unk>": 5}
        assert sorted(read.train) == [([1, 1, 0], 0), ([2, 3, 4, 0], 1)]
        assert sorted(read.test) == [([1, 5], 0), ([3], 1)]


WORDS = b"The\ncat\nsaw\nit\n.\n\nGo\n\n"
PROPS = b"-    (A0*\n-    *)\nsee  (V*)\n-    (A1*)\n-    *\n\ngo   (V*)\n\n"


def test_conll05(tmp_path):
    folder = "conll05st-release/test.wsj/"
    files = {folder + "words/test.wsj.words.gz": gzip.compress(WORDS), folder + "props/test.wsj.props.gz": gzip.compress(PROPS)}
    read = data.conll05.load(write_tar(tmp_path / "conll05st-tests.tar.gz", files), test_ratio=0.5)
    ((words, *around, verb, mark, labels),) = read.train
    spelled = {number: word for word, number in read.vocabularies["words"].items()}
    assert [spelled[i] for i in words] == ["The", "cat", "saw", "it", "."]
    assert [[spelled[i] for i in set(context)] for context in around] == [["The"], ["cat"], ["saw"], ["it"], ["."]]
    assert verb == [read.vocabularies["verbs"]["see"]] * 5 and mark == [1] * 5
    assert list(read.vocabularies["labels"]) == ["B-A0", "I-A0", "B-A1", "I-A1", "B-V", "I-V", "O"]
    named = {number: label for label, number in read.vocabularies["labels"].items()}
    assert [named[i] for i in labels] == ["B-A0", "I-A0", "B-V", "B-A1", "O"]
    ((words, *around, verb, mark, labels),) = read.test
    assert [spelled[context[0]] for context in around] == ["bos", "bos", "Go", "eos", "eos"] and mark == [1]


@pytest.mark.parametrize(
    "words, props, message",
    [
        (b"a\n", b"- *\n- *\n", "1 lines of words and 2 of props"),
        (b"a\n\nb\n", b"- *\n- *\n- *\n", "line 2 of words and of props"),
        (b"a\nb\n", b"see (V*)\nrun *\n", "has 2 verbs and other columns"),
        (b"a\nb\n", b"see (V*)\n- A0\n", "has the label 'A0'"),
        (b"a\n", b"see (A0*)\n", "no \\(V\\*\\) for 'see'"),
    ],
)
def test_conll05_that_does_not_fit(tmp_path, words, props, message):
    write_folder(tmp_path, {"test.wsj.words": words, "test.wsj.props": props})
    with pytest.raises(pm.ProgramError, match=message):
        data.conll05.load(tmp_path)


def test_wmt16(tmp_path):
    files = {
        "wmt16/train": "a dog runs\tein Hund läuft\na cat\teine Katze\n".encode(),
        "wmt16/val": b"",
        "wmt16/test": b"a cow\teine Kuh\n",
    }
    path = write_tar(tmp_path / "wmt16.tar.gz", files)
    read = data.wmt16.load(path)
    source, target = read.vocabularies["source"], read.vocabularies["target"]
    assert list(source)[:4] == ["<s>", "<e>", "<unk>", "a"]
    assert read.train[1] == (
        [0, source["a"], source["cat"], 1],
        [0, target["eine"], target["Katze"]],
        [target["eine"], target["Katze"], 1],
    )
    assert read.test == [([0, 3, 2, 1], [0, target["eine"], 2], [target["eine"], 2, 1])]
    swapped = data.wmt16.load(path, source_words=4, source="de").vocabularies
    assert swapped["target"] == source and len(swapped["source"]) == 4
    with pytest.raises(pm.ProgramError, match="it must be 'en' or 'de'"):
        data.wmt16.load(path, source="fr")
    with pytest.raises(pm.ProgramError, match="line 1 of 'train' has 1 columns"):
        data.wmt16.load(write_folder(tmp_path / "a", {"train": b"a dog\n", "test": b""}))


def test_two_files_of_one_name(tmp_path):
    files = {"a/ptb.train.txt": b"a\n", "b/ptb.train.txt": b"a\n", "ptb.valid.txt": b"a\n"}
    with pytest.raises(pm.ProgramError, match="has both"):
        data.imikolov.load(write_folder(tmp_path, files))


def test_a_file_that_fills_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("paddle_mini.data.archive.MOST_BYTES", 1000)
    (tmp_path / "housing.data.gz").write_bytes(gzip.compress(b"1 " * 600))
    with pytest.raises(pm.ProgramError, match="more than 1000 bytes"):
        data.uci_housing.load(tmp_path)
