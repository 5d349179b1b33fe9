"""Runs models in ONNX Runtime: cases.txt of a folder has a line for each, with its path and the names of its outputs."""

import pathlib
import sys

import numpy as np
import onnxruntime


def run(path, inputs, outputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    fed = {info.name: inputs[info.name] for info in session.get_inputs()}
    return dict(zip(outputs, session.run(outputs, fed)))


def main():
    onnxruntime.set_default_logger_severity(4)
    folder = pathlib.Path(sys.argv[1])
    for number, line in enumerate((folder / "cases.txt").read_text().splitlines()):
        path, *outputs = line.split("\t")
        with np.load(folder / f"{number}.npz") as inputs:
            try:
                np.savez(folder / f"{number}.out.npz", **run(path, inputs, outputs))
            except Exception as error:  # its exceptions have no common type
                (folder / f"{number}.error").write_text(str(error))


if __name__ == "__main__":
    main()
