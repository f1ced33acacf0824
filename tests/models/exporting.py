# Turns PyTorch modules with random weights into ONNX files that behave like trained ones.
import inspect
import os
import warnings
from pathlib import Path

import torch


def settle(module, *example, seed=0):
    """Seeded random weights, as awkward as trained ones: no zero bias, identity batch norm or idle block.

    Batch norms get the true statistics of `example`, so that deep networks neither explode nor vanish.
    """
    generator = torch.Generator().manual_seed(seed)
    module.eval()
    norms = [m for m in module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    with torch.no_grad():
        for norm in norms:
            norm.weight.copy_(1 + 0.1 * torch.randn(norm.weight.shape, generator=generator))
            norm.bias.copy_(0.1 * torch.randn(norm.bias.shape, generator=generator))
            norm.reset_running_stats()
            norm.momentum = None  # the mean over all batches seen
            norm.train()
        for parameter in module.parameters():
            if parameter.abs().max() < 1e-4:  # zero biases, and layer scales that hide their whole block
                parameter.copy_(0.1 * torch.randn(parameter.shape, generator=generator))
            elif parameter.dim() > 1:  # weights so small that every attention would be uniform
                wanted, spread = parameter[0].numel() ** -0.5, parameter.std()
                if spread < 0.5 * wanted:
                    parameter.mul_(wanted / spread)
        if norms:
            module(*example)
    return module.eval()


def export(module, example, path, inputs, outputs, dynamic=None, opset=17, dynamo=False, keep_batch_norm=False):
    """Writes `path`. `dynamic` is {input or output name: {axis: dimension name}}.

    The TorchScript exporter is the default; `dynamo` takes the one built on torch.export (opset 18 or later).
    """
    temporary = Path(str(path) + ".tmp")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        if dynamo:
            shapes = [{axis: torch.export.Dim.DYNAMIC for axis in (dynamic or {}).get(name, {})} for name in inputs]
            named = [p for p in inspect.signature(module.forward).parameters.values() if p.kind != p.VAR_POSITIONAL]
            if len(named) < len(inputs):  # forward(a, b, *rest) wants its shapes as a, b, (rest...)
                shapes = [*shapes[: len(named)], tuple(shapes[len(named) :])]
            program = torch.onnx.export(
                module,
                tuple(example),
                dynamo=True,
                input_names=inputs,
                output_names=outputs,
                dynamic_shapes=tuple(shapes) if dynamic else None,
                opset_version=max(opset, 18),
                verbose=False,
            )
            program.save(temporary, external_data=False)
            forget_origin(temporary)
        else:
            preserve = {"training": torch.onnx.TrainingMode.PRESERVE} if keep_batch_norm else {}
            torch.onnx.export(
                module,
                tuple(example),
                temporary,
                dynamo=False,
                opset_version=opset,
                input_names=inputs,
                output_names=outputs,
                dynamic_axes=dynamic,
                **preserve,
            )
    os.replace(temporary, path)


def forget_origin(path):
    """Drops the Python stack traces and local paths that the dynamo exporter writes at every node and value."""
    import onnx

    model = onnx.load(path)
    graph = model.graph
    for item in [
        model,
        graph,
        *graph.node,
        *graph.value_info,
        *graph.input,
        *graph.output,
        *graph.initializer,
        *model.functions,
        *(node for function in model.functions for node in function.node),
    ]:
        del item.metadata_props[:]
        item.doc_string = ""
    onnx.save(model, path)


def append_suppression(path, rows, score, most, objectness=False, agnostic=False):
    """Appends NonMaxSuppression to a detector's file, the way that deployment scripts do.

    `rows` is the output [N, boxes, 5 + classes] (objectness) or [N, 4 + classes, boxes]; the graph gets the further
    outputs selected_indices [K, 3] and selected_boxes [K, 4] (x centre, y centre, width, height). `agnostic` lets
    only the best class of each box count.
    """
    import onnx
    from onnx import TensorProto, helper

    model = onnx.load(path)
    graph, nodes = model.graph, []

    def constant(name, values, dtype):
        graph.initializer.append(helper.make_tensor("nms/" + name, dtype, [len(values)], values))
        return "nms/" + name

    def node(operator, inputs, output, **attributes):
        nodes.append(
            helper.make_node(operator, inputs, [output], name="nms/" + operator + str(len(nodes)), **attributes)
        )
        return output

    if not objectness:
        rows = node("Transpose", [rows], "nms/rows", perm=[0, 2, 1])
    zero, four, five, end = (
        constant(name, [value], TensorProto.INT64)
        for name, value in (("zero", 0), ("four", 4), ("five", 5), ("end", 2**31 - 1))
    )
    axis = constant("axis", [2], TensorProto.INT64)
    boxes = node("Slice", [rows, zero, four, axis], "nms/boxes")
    scores = node("Slice", [rows, five if objectness else four, end, axis], "nms/scores")
    if objectness:
        scores = node("Mul", [scores, node("Slice", [rows, four, five, axis], "nms/objectness")], "nms/products")
    if agnostic:
        scores = node("ReduceMax", [scores], "nms/best", axes=[2], keepdims=1)
    scores = node("Transpose", [scores], "nms/scores_by_class", perm=[0, 2, 1])
    node(
        "NonMaxSuppression",
        [
            boxes,
            scores,
            constant("most", [most], TensorProto.INT64),
            constant("overlap", [0.5], TensorProto.FLOAT),
            constant("score", [score], TensorProto.FLOAT),
        ],
        "selected_indices",
        center_point_box=1,
    )
    chosen = node(
        "Gather", ["selected_indices", constant("columns", [0, 2], TensorProto.INT64)], "nms/image_and_box", axis=1
    )
    node("GatherND", [boxes, chosen], "selected_boxes")
    graph.node.extend(nodes)
    graph.output.extend(
        [
            helper.make_tensor_value_info("selected_indices", TensorProto.INT64, ["K", 3]),
            helper.make_tensor_value_info("selected_boxes", TensorProto.FLOAT, ["K", 4]),
        ]
    )
    onnx.checker.check_model(model)
    onnx.save(model, path)


def quantize(source, path, calibration):
    """int8 by onnxruntime's own tool: QDQ from calibration inputs, or dynamic quantisation where there are none.

    reduce_range (7-bit weights) keeps onnxruntime exact on processors without VNNI, whose 16-bit sums saturate.
    """
    import logging

    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    logging.getLogger().setLevel(logging.ERROR)
    prepared = Path(str(path) + ".prepared.onnx")
    quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
    if calibration is None:
        quantization.quantize_dynamic(
            str(prepared), str(path), weight_type=quantization.QuantType.QInt8, reduce_range=True
        )
    else:

        class Reader(quantization.CalibrationDataReader):
            def __init__(self):
                self.left = iter(calibration)

            def get_next(self):
                return next(self.left, None)

        quantization.quantize_static(
            str(prepared),
            str(path),
            Reader(),
            quant_format=quantization.QuantFormat.QDQ,
            per_channel=True,
            reduce_range=True,
            weight_type=quantization.QuantType.QInt8,
            activation_type=quantization.QuantType.QUInt8,
        )
    prepared.unlink()
