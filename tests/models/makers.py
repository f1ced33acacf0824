# How a model's file comes to be: copied from a package, or exported from PyTorch with seeded random weights.
#
# Each function takes what is particular to the model and returns make(path), which writes the file.
import importlib.util
import shutil
from pathlib import Path

import numpy as np
from catalogue import BERT_INPUTS, CATALOGUE, photo


def packaged(package, file):
    def make(path):
        shutil.copyfile(Path(importlib.util.find_spec(package).origin).parent / file, path)

    return make


def filled(file):
    """A light model with random weights in place of its constant ones, whose outputs say nothing."""

    def make(path):
        from filling import fill

        packaged("onnx", f"backend/test/data/light/{file}")(path)
        fill(path)

    return make


def classifier(build, size=224, batch=4, keep_batch_norm=False, dynamo=False, axes=(0,), opset=17):
    """Exports build() with input 'input' [N, 3, size, size] and output 'logits'; `axes` are the dynamic ones."""

    def make(path):
        import torch
        from exporting import export, settle

        torch.manual_seed(0)
        module = settle(build(), torch.rand(batch, 3, size, size))
        dynamic = {"input": {axis: "NCHW"[axis] for axis in axes}} | ({} if dynamo else {"logits": {0: "N"}})
        export(
            module,
            (torch.rand(2, 3, size, size),),
            path,
            ["input"],
            ["logits"],
            dynamic,
            dynamo=dynamo,
            keep_batch_norm=keep_batch_norm,
            opset=opset,
        )

    return make


def from_torchvision(name, **arguments):
    def build():
        import torchvision

        return torchvision.models.get_model(name, weights=None, **arguments)

    return build


def from_timm(name):
    def build():
        import timm

        return timm.create_model(name, pretrained=False)

    return build


def transformer(kind, outputs, config, inputs=BERT_INPUTS, sequence=None, shape=(2, 128), weights=None, dynamo=False):
    """Exports transformers' `kind`Model; `sequence` names the second axis where it is dynamic too."""

    def make(path):
        import torch
        import transformers
        from architectures import Picked
        from exporting import export, settle

        torch.manual_seed(0)
        kinds = getattr(transformers, f"{kind}Config")
        if weights:
            folder = Path(importlib.util.find_spec(weights).origin).parent / "model"
            model = getattr(transformers, f"{kind}Model").from_pretrained(folder, attn_implementation="eager").eval()
        else:
            model = settle(getattr(transformers, f"{kind}Model")(kinds(attn_implementation="eager", **config)))
        example = [
            torch.randint(1, 100, shape),
            torch.ones(shape, dtype=torch.int64),
            torch.zeros(shape, dtype=torch.int64),
        ]
        axes = {0: "N"} | ({1: sequence} if sequence else {})
        dynamic = {name: axes for name in inputs}
        if not dynamo:
            dynamic |= {name: {0: "N"} if name == "pooler_output" else axes for name in outputs}
        export(Picked(model, inputs, outputs), example[: len(inputs)], path, inputs, outputs, dynamic, dynamo=dynamo)

    return make


def generator(kind, config, layers, heads, width, past=True, dynamo=False):
    """Exports a decoder; with `past`, its cache is inputs past_L_key/value and outputs present_L_key/value."""

    def make(path):
        import torch
        import transformers
        from architectures import Generator, Picked
        from exporting import export, settle

        torch.manual_seed(0)
        configured = getattr(transformers, f"{kind}Config")(attn_implementation="eager", **config)
        model = settle(
            getattr(transformers, {"GPT2": "GPT2LMHeadModel", "Llama": "LlamaForCausalLM"}[kind])(configured)
        )
        ids, mask = torch.randint(1, 100, (2, 5)), torch.ones((2, 5 + (3 if past else 0)), dtype=torch.int64)
        inputs, outputs = ["input_ids", "attention_mask"], ["logits"]
        dynamic = {"input_ids": {0: "N", 1: "S"}, "attention_mask": {0: "N", 1: "T"}}
        if not past:
            dynamic["attention_mask"] = {0: "N", 1: "S"}
            model.config.use_cache = False
            export(
                Picked(model, inputs, outputs),
                (ids, mask),
                path,
                inputs,
                outputs,
                dynamic | ({} if dynamo else {"logits": {0: "N", 1: "S"}}),
                dynamo=dynamo,
            )
            return
        pasts = [torch.randn(2, heads, 3, width) for _ in range(2 * layers)]
        inputs += [f"past_{layer}_{part}" for layer in range(layers) for part in ("key", "value")]
        outputs += [f"present_{layer}_{part}" for layer in range(layers) for part in ("key", "value")]
        dynamic |= {name: {0: "N", 2: "P"} for name in inputs[2:]}
        if not dynamo:
            dynamic |= {"logits": {0: "N", 1: "S"}} | {name: {0: "N", 2: "T"} for name in outputs[1:]}
        export(Generator(model), (ids, mask, *pasts), path, inputs, outputs, dynamic, dynamo=dynamo)

    return make


def yolo(config, suppression):
    """An Ultralytics architecture from its yaml; `suppression` is 'module' (torchvision's nms) or 'appended' nodes."""

    def make(path):
        import torch
        from architectures import WithSuppression
        from exporting import append_suppression, export, settle
        from ultralytics.nn.tasks import DetectionModel

        torch.manual_seed(0)
        pictures = torch.from_numpy(photo("images", (1, 3, 320, 320))(None)[0]["images"])
        pictures = torch.cat([pictures, pictures.flip(3), pictures.flip(1, 2)])
        model = settle(DetectionModel(config, verbose=False), pictures)
        head = model.model[-1]
        head.export, head.format, head.dynamic = True, "onnx", False

        def spread(convolution, _, scores):  # scores that saturate would be ties, which no order decides
            convolution.weight.data.div_(4 * scores.std())
            convolution.bias.data.fill_(-1)

        hooks = [branch[-1].register_forward_hook(spread) for branch in head.cv3]
        with torch.no_grad():
            model(pictures)
        for hook in hooks:
            hook.remove()
        if suppression == "module":
            export(
                WithSuppression(model, most=4),
                (torch.rand(1, 3, 320, 320),),
                path,
                ["images"],
                ["detections"],
                {"detections": {0: "K"}},
            )
        else:
            export(model, (torch.rand(1, 3, 320, 320),), path, ["images"], ["output0"])
            append_suppression(path, "output0", score=0.3, most=4, agnostic=True)

    return make


def own(name, example, inputs, outputs, dynamic=None, settle_with=None, script=False, half=False, **arguments):
    """Exports a class of architectures.py. `name` may be a function that builds the module."""

    def make(path):
        import architectures
        import torch
        from exporting import export, settle

        torch.manual_seed(0)
        module = name() if callable(name) else getattr(architectures, name)()
        tensors = example()
        settle(module, *(settle_with() if settle_with else tensors))
        if half:
            module, tensors = module.half(), [t.half() for t in tensors]
        export(torch.jit.script(module) if script else module, tensors, path, inputs, outputs, dynamic, **arguments)

    return make


def detector(name, appended):
    def make(path):
        import architectures
        import torch
        from exporting import append_suppression, export, settle

        torch.manual_seed(0)
        module = settle(getattr(architectures, name)(), torch.rand(4, 3, 64, 64))
        axes = {"images": {0: "N", 2: "H", 3: "W"}}
        if appended:
            export(
                module, (torch.rand(2, 3, 64, 64),), path, ["images"], ["rows"], axes | {"rows": {0: "N", 1: "boxes"}}
            )
            append_suppression(path, "rows", score=0.3, most=8, objectness=True)
        else:
            export(
                architectures.WithSuppression(module),
                (torch.rand(1, 3, 64, 64),),
                path,
                ["images"],
                ["detections"],
                {"images": {2: "H", 3: "W"}, "detections": {0: "K"}},
            )

    return make


def quantized(name, static):
    """The small model `name`, put into QDQ form (static) or with dynamic MatMulInteger."""

    def make(path):
        from exporting import quantize

        source = next(model for model in CATALOGUE if model.name == f"small/{name}")
        plain = path.with_suffix(".plain.onnx")
        source.make(plain)
        quantize(plain, path, source.calls(np.random.default_rng(1)) if static else None)
        plain.unlink()

    return make
