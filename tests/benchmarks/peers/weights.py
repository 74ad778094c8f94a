"""The shared weights in the form that a peer needs: a static table of model2vec, or a quantised graph.

python weights.py PEER MODEL FOLDER
"""

from __future__ import annotations

import subprocess
import sys

peer, model, folder = sys.argv[1:]
if peer == "nearest":
    from model2vec.distill import distill

    distill(model).save_pretrained(folder)
else:
    command = [sys.executable, "-m", "intentmatch", "export-onnx", model, "-o", folder, "--precision", "int8"]
    subprocess.run(command, check=True)
