#!/usr/bin/env python3
"""Writes the backend tests of the installed `onnx` package into a folder, as its wheels do not carry the node tests:

    newest.py FOLDER

FOLDER/node and FOLDER/simple come from the package's generators, with fixed random numbers; the rest is copied. What is
there of the same release is kept. Prints the release.
"""
import argparse
import pathlib
import shutil
import sys
import warnings


def write(folder):
    import numpy as np
    import onnx
    from onnx.backend.test import cmd_tools
    from onnx.backend.test.case import model, node

    stamp = folder / 'release'
    if stamp.exists() and stamp.read_text() == onnx.__version__:
        return onnx.__version__
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    np.random.seed(0)
    warnings.simplefilter('ignore')
    cases = [c for c in [*node.collect_testcases(), *model.collect_testcases()] if c.model]  # the rest are addresses
    model.collect_testcases = lambda: cases  # the writer asks here, and knows models only
    cmd_tools.generate_data(argparse.Namespace(output=str(folder)))
    for name in ('pytorch-converted', 'pytorch-operator'):
        shutil.copytree(pathlib.Path(cmd_tools.DATA_DIR) / name, folder / name)
    stamp.write_text(onnx.__version__)
    return onnx.__version__


if __name__ == '__main__':
    print(write(pathlib.Path(sys.argv[1]).absolute()))
