# Gives the light models of the onnx package, whose weights are constant, random ones.
import numpy as np
import onnx
from onnx import numpy_helper


def fill(path, seed=0):
    """Replaces each ConstantOfShape by random weights of a sane size, and shows what goes into the last Softmax."""
    model, rng = onnx.load(path), np.random.default_rng(seed)
    graph = model.graph
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    through = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Unsqueeze"}
    roles = {}  # value: (operator, place among its inputs)
    for node in graph.node:
        for place, name in enumerate(node.input):
            roles[through.get(name, name)] = (node.op_type, place)
    kept = []
    for node in graph.node:
        if node.op_type != "ConstantOfShape":
            kept.append(node)
            continue
        shape, (operator, place) = [int(d) for d in shapes[node.input[0]]], roles[node.output[0]]
        values = rng.standard_normal(shape)
        if operator in ("Conv", "Gemm") and place == 1:
            values *= np.sqrt(1.5 / np.prod(shape[1:]))
        elif (operator, place) in (("BatchNormalization", 1), ("BatchNormalization", 4), ("Mul", 1)):
            values = 1 + 0.1 * np.abs(values)
        else:
            values *= 0.1
        graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), node.output[0]))
    del graph.node[:]
    graph.node.extend(kept)
    used = {name for node in kept for name in node.input}
    for field in (graph.initializer, graph.input):
        for item in [item for item in field if item.name not in used]:
            field.remove(item)
    declared = {value.name for value in graph.input}  # ir_version 3 wants every initializer among the inputs
    for tensor in graph.initializer:
        if tensor.name not in declared:
            graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    if kept[-1].op_type == "Softmax":
        graph.output.append(onnx.ValueInfoProto(name=kept[-1].input[0]))
        inferred = {v.name: v for v in onnx.shape_inference.infer_shapes(model).graph.value_info}
        graph.output[-1].CopyFrom(inferred[kept[-1].input[0]])
    onnx.checker.check_model(model)
    onnx.save(model, path)
