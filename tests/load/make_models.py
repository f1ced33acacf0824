#!/usr/bin/env python3
"""Makes tests/load/models/*.onnx: good_ ones load, bad_ ones are refused (models.cpp says how). Needs the onnx package.

A good_ model that has floats for inputs and outputs carries what ONNX's reference evaluator computes of inputs 1, 2, 3, ...
in its metadata ('expect N'), so that the loaded graph can be run against it.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper
from onnx.reference import ReferenceEvaluator

HERE = pathlib.Path(__file__).parent / "models"
F = TensorProto.FLOAT
node = helper.make_node


def value(name, dims=(2,), dtype=F):
    return helper.make_tensor_value_info(name, dtype, dims)


def constant(name, values, dtype=F, dims=None, raw=False):
    array = np.asarray(values)
    dims = list(array.shape) if dims is None else dims
    if raw:
        return helper.make_tensor(name, dtype, dims, array.astype(helper.tensor_dtype_to_np_dtype(dtype)).tobytes(), raw=True)
    return helper.make_tensor(name, dtype, dims, array.flatten().tolist())


def graph(nodes, inputs=("x",), outputs=("y",), initializers=(), name="g", **more):
    as_values = lambda items: [value(i) if isinstance(i, str) else i for i in items]
    return helper.make_graph(nodes, name, as_values(inputs), as_values(outputs), initializer=list(initializers), **more)


def model(g, opset=17, ir=8, functions=(), domains=()):
    imports = [helper.make_opsetid("", opset)] if opset else []
    imports += [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(g, opset_imports=imports, ir_version=ir, functions=list(functions), producer_name="make_models")


def feeds(m):
    """Inputs 1, 2, 3, ...: each of the declared shape, symbols being 2."""
    out = {}
    defaults = {i.name for i in m.graph.initializer}
    for i in m.graph.input:
        if i.name in defaults:
            continue
        t = i.type.tensor_type
        if t.elem_type != F:
            return None
        dims = [d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else 2 for d in t.shape.dim]
        out[i.name] = np.arange(1, 1 + int(np.prod(dims)), dtype=np.float32).reshape(dims)
    return out


def save(name, m, expect=True, by_hand=None):
    if name.startswith("good_") and expect:
        onnx.checker.check_model(m)
        inputs = feeds(m)
        results = ReferenceEvaluator(m).run(None, inputs) if by_hand is None else by_hand(**inputs)
        for i, r in enumerate(results):
            text = " ".join(repr(float(v)) for v in np.asarray(r).flatten())
            m.metadata_props.add(key=f"expect {i}", value=text)
    (HERE / f"{name}.onnx").write_bytes(m if isinstance(m, bytes) else m.SerializeToString())


def function(name, inputs, outputs, nodes, domain="local", attributes=(), defaults=(), opset=17, imports=()):
    all_imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in imports]
    return helper.make_function(domain, name, list(inputs), list(outputs), nodes, all_imports, list(attributes), list(defaults))


def ref(op, inputs, outputs, **refs):
    """A node whose attributes refer to the function's: attr=("outer name", type)."""
    n = node(op, inputs, outputs)
    for key, (outer, kind) in refs.items():
        n.attribute.add(name=key, ref_attr_name=outer, type=kind)
    return n


def external(name, dims, **entries):
    t = TensorProto(name=name, data_type=F, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, v in entries.items():
        t.external_data.add(key=key, value=str(v))
    return t


W = constant("w", [10, 20])
ADD = [node("Add", ["x", "w"], ["y"])]


def good_plain():
    save("good_plain", model(graph([node("Add", ["x", "w"], ["a"]), node("Relu", ["a"], ["y"])], initializers=[W])))
    save("good_ir3", model(graph(ADD, ["x", "w"], initializers=[W]), ir=3, opset=8), expect=False)
    save("good_ir4_default", model(graph(ADD, ["x", "w"], initializers=[W]), ir=4, opset=9), expect=False)
    save("good_ir99", model(graph(ADD, initializers=[W]), ir=99), expect=False)
    save("good_unsorted", model(graph([node("Relu", ["a"], ["y"]), node("Neg", ["x"], ["a"])])), expect=False)
    save("good_names", model(graph([node("Neg", ["x"], ["a"], name="same"), node("Neg", ["a"], ["b"], name="same"),
                                    node("Clip", ["b", "", "w0"], ["y"])], initializers=[constant("w0", 1.5)])))
    save("good_passthrough", model(graph([node("Neg", ["x"], ["y"])], ["x"], ["y", "x", "w", "y"], [W])), expect=False)
    m = model(graph([node("Add", ["x", "w"], ["y"], domain="ai.onnx")], initializers=[W]))
    m.opset_import[0].domain = "ai.onnx"
    save("good_ai_onnx", m, expect=False)
    m = model(graph([node("LeakyRelu", ["x"], ["y"], alpha=0.5)]))
    m.graph.node[0].attribute[0].ClearField("type")
    save("good_attribute_type_left_out", m, expect=False)
    save("good_symbols", model(graph([node("Neg", ["x"], ["y"])], [value("x", ["batch", 3, None, -1])], [value("y", None)])),
         expect=False)
    save("good_stale_shape", model(graph(ADD, initializers=[W], value_info=[value("w", (3,))])), expect=False)
    sequence = helper.make_tensor_sequence_value_info("s", F, None)
    save("good_sequence", model(graph([node("Neg", ["x"], ["y"])], ["x", sequence])), expect=False)


def good_constants():
    nodes = [node("Constant", [], ["c0"], value=constant("t", [1, 2])), node("Constant", [], ["c1"], value_float=3.0),
             node("Constant", [], ["c2"], value_floats=[4.0, 5.0])]
    nodes += [node("Sum", ["x", "c0", "c1", "c2"], ["y"])]
    save("good_constants", model(graph(nodes)))
    entries = lambda name, indices, dims: helper.make_sparse_tensor(constant(name, [7, 8]), indices, dims)
    linear = entries("a", constant("i", [1, 5], TensorProto.INT64), [2, 3])
    both = entries("b", constant("i", [[0, 1], [1, 2]], TensorProto.INT64), [2, 3])
    one = helper.make_sparse_tensor(constant("v", [6]), constant("i", [1], TensorProto.INT64), [2])
    nodes = [node("Constant", [], ["c"], sparse_value=one), node("Add", ["x", "c"], ["y"])]
    outputs = ["y", "c", value("a", (2, 3)), value("b", (2, 3))]
    save("good_sparse", model(graph(nodes, ["x"], outputs, sparse_initializer=[linear, both])), expect=False)


def good_typed():
    """Every element type in its typed field (t_) and as raw bytes (r_)."""
    initializers = []
    for number in range(1, 27):
        if number == TensorProto.STRING:
            continue
        name = TensorProto.DataType.Name(number).lower()
        dtype = helper.tensor_dtype_to_np_dtype(number)
        array = np.array([0, 1, 1, 0, 1] if number != TensorProto.FLOAT8E8M0 else [1, 2, 4, 1, 0.5]).astype(dtype)
        raw = onnx.numpy_helper.from_array(array, "r_" + name)
        typed = helper.make_tensor("t_" + name, number, [5], array)
        initializers += [raw, typed]
    strings = helper.make_tensor("strings", TensorProto.STRING, [2], [b"a", b"b\xff"])
    m = model(graph([node("Neg", ["x"], ["y"])], initializers=initializers + [strings]), ir=13)
    m.graph.output.extend(onnx.ValueInfoProto(name=i.name) for i in initializers + [strings])
    save("good_typed", m, expect=False)


def good_functions():
    scale = function("scale", ["a", "b"], ["r"], [ref("LeakyRelu", ["a"], ["l"], alpha=("slope", AttributeProto.FLOAT)),
                                                ref("Constant", [], ["c"], value_float=("factor", AttributeProto.FLOAT)),
                                                node("Mul", ["l", "c"], ["m"]), node("Clip", ["m", "b"], ["r"])],
                     attributes=["slope"], defaults=[helper.make_attribute("factor", 3.0)])
    twice = function("twice", ["a"], ["r", "unchanged"],
                     [ref("scale", ["a"], ["h"], slope=("slope", AttributeProto.FLOAT)),
                      node("Constant", [], ["low"], value_float=-1.0),
                      node("scale", ["h", "low"], ["r"], domain="local", slope=0.25, factor=2.0),
                      node("Identity", ["a"], ["unchanged"])], attributes=["slope"], imports=["local"])
    twice.node[0].domain = "local"
    nodes = [node("Neg", ["x"], ["n"]), node("twice", ["n"], ["p", "q"], domain="local", slope=0.5, name="first"),
             node("twice", ["p"], ["y"], domain="local", slope=2.0)]

    def by_hand(x):  # the evaluator does not take fewer inputs or outputs than a function has
        scaled = lambda a, b, slope, factor=3.0: np.maximum(np.where(a >= 0, a, slope * a) * factor, b)
        both = lambda a, slope: scaled(scaled(a, -np.inf, slope), -1.0, 0.25, 2.0)
        return both(both(-x, 0.5), 2.0), -x

    save("good_functions", model(graph(nodes, outputs=["y", "q"]), functions=[scale, twice], domains=["local"]),
         by_hand=by_hand)
    ends = function("ends", ["a"], ["r", "s", "c", "a"], [node("Neg", ["a"], ["r"]), node("Abs", ["r"], ["s"]),
                                                        node("Constant", [], ["c"], value_floats=[1.0, 2.0])])
    nodes = [node("ends", ["x"], ["y", "z", "c", "same"], domain="local")]
    save("good_function_ends", model(graph(nodes, outputs=["y", "z", "c", "same"]), functions=[ends], domains=["local"]))
    over = function("Relu", ["a"], ["r"], [node("Neg", ["a"], ["r"])], domain="")
    save("good_function_first", model(graph([node("Relu", ["x"], ["y"])]), functions=[over]), expect=False)


def branch(name, nodes, outputs):
    return graph(nodes, [], outputs, name=name)


def good_captures():
    """An If in an If: x and k of the main graph and h of the outer branch are used inside, k a constant."""
    inner = node("If", ["c"], ["i"], name="inner",
                 then_branch=branch("t2", [node("Add", ["x", "h"], ["t2y"])], ["t2y"]),
                 else_branch=branch("e2", [node("Mul", ["x", "k"], ["e2y"])], ["e2y"]))
    outer = node("If", ["c"], ["y"], name="outer",
                 then_branch=branch("t1", [node("Neg", ["x"], ["h"]), inner], ["i"]),
                 else_branch=branch("e1", [node("Identity", ["k"], ["e1y"])], ["e1y"]))
    nodes = [node("Constant", [], ["c"], value=constant("c", True, TensorProto.BOOL)), outer]
    save("good_captures", model(graph(nodes, initializers=[constant("k", [3, 4])])))
    choose = function("choose", ["a", "b"], ["r"],
                      [node("Greater", ["a", "b"], ["g"]),
                       node("If", ["g"], ["r"], then_branch=branch("t", [node("Neg", ["a"], ["ty"])], ["ty"]),
                            else_branch=branch("e", [node("Neg", ["b"], ["ey"])], ["ey"]))])
    one = ["one"]
    nodes = [node("ReduceSum", ["x"], one, keepdims=0), node("choose", ["one", "k"], ["y"], domain="local", name="call")]
    save("good_function_captures", model(graph(nodes, outputs=[value("y", ())], initializers=[constant("k", 2.0)]),
                                         functions=[choose], domains=["local"]))


def good_external():
    folder = HERE / "data"
    folder.mkdir(exist_ok=True)
    (folder / "weights.bin").write_bytes(b"\0" * 8 + np.arange(300, dtype=np.float32).tobytes() + b"\1\0\2")
    byte = TensorProto(name="odd", data_type=TensorProto.INT16, dims=[1], data_location=TensorProto.EXTERNAL)
    for key, v in (("location", "./data/weights.bin"), ("offset", "1209")):
        byte.external_data.add(key=key, value=v)
    flag = TensorProto(name="flag", data_type=TensorProto.BOOL, dims=[3], data_location=TensorProto.EXTERNAL)
    for key, v in (("location", "data/weights.bin"), ("offset", "1208"), ("length", "3"), ("checksum", "?")):
        flag.external_data.add(key=key, value=v)
    big = external("big", [300], location="data/weights.bin", offset=8, length=1200)
    outputs = ["y", value("big", [300]), value("odd", [1], TensorProto.INT16), value("flag", [3], TensorProto.BOOL)]
    save("good_external", model(graph([node("Neg", ["x"], ["y"])], ["x"], outputs, [big, byte, flag])), expect=False)


def bad_names():
    neg = lambda i, o: node("Neg", [i], [o])
    save("bad_undefined_input", model(graph([neg("missing", "y")])))
    save("bad_undefined_output", model(graph([neg("x", "z")])))
    save("bad_defined_twice", model(graph([neg("x", "y"), neg("x", "y")])))
    save("bad_defined_as_input", model(graph([neg("x", "x")], outputs=["x"])))
    save("bad_input_twice", model(graph([neg("x", "y")], ["x", "x"])))
    save("bad_initializer_twice", model(graph(ADD, initializers=[W, W])))
    save("bad_initializer_without_name", model(graph(ADD, initializers=[W, constant("", [1])])))
    save("bad_cycle", model(graph([neg("b", "a"), neg("a", "b"), neg("x", "y")])))
    save("bad_self", model(graph([neg("y", "y")])))
    save("bad_captures_itself", model(graph([node("If", ["c"], ["y"], then_branch=branch("t", [neg("y", "t1")], ["t1"]),
                                                else_branch=branch("e", [neg("x", "e1")], ["e1"]))],
                                          ["x", value("c", (), TensorProto.BOOL)])))
    shadow = branch("t", [neg("x", "w")], ["w"])
    save("bad_shadowing", model(graph([node("If", ["c"], ["y"], then_branch=shadow, else_branch=shadow)],
                                      ["x", value("c", (), TensorProto.BOOL)], initializers=[W])))
    inside = node("If", ["c"], ["y"], then_branch=branch("t", [neg("x", "t1")], ["t1"]),
                  else_branch=branch("e", [neg("x", "e1")], ["e1"]))
    save("bad_inner_name_outside", model(graph([inside, neg("t1", "z")], ["x", value("c", (), TensorProto.BOOL)], ["y", "z"])))


def bad_types():
    neg = [node("Neg", ["x"], ["y"])]
    m = model(graph(neg))
    m.graph.input[0].ClearField("type")
    save("bad_input_without_type", m)
    save("bad_element_type", model(graph(neg, [value("x", (2,), 99)])))
    save("bad_rank_17", model(graph(neg, [value("x", [1] * 17)])))
    save("bad_declared_dtype", model(graph(ADD, initializers=[W], value_info=[value("w", (2,), TensorProto.INT64)])))
    save("bad_default_dtype", model(graph(ADD, ["x", value("w", (2,), TensorProto.DOUBLE)], initializers=[W])))
    save("bad_default_shape", model(graph(ADD, ["x", value("w", (3,))], initializers=[W])))
    opaque = onnx.ValueInfoProto(name="o")
    opaque.type.opaque_type.name = "thing"
    save("bad_opaque", model(graph(neg, ["x", opaque])))


def bad_tensors():
    def with_tensor(name, t):
        save(name, model(graph(ADD, initializers=[t])))

    T = TensorProto
    with_tensor("bad_raw_length", T(name="w", data_type=F, dims=[2], raw_data=b"1234567"))
    with_tensor("bad_typed_length", T(name="w", data_type=F, dims=[2], float_data=[1]))
    with_tensor("bad_typed_field", T(name="w", data_type=F, dims=[2], int32_data=[1, 2]))
    with_tensor("bad_no_data", T(name="w", data_type=F, dims=[2]))
    with_tensor("bad_int8_range", T(name="w", data_type=T.INT8, dims=[1], int32_data=[300]))
    with_tensor("bad_int4_length", T(name="w", data_type=T.INT4, dims=[3], int32_data=[1, 2, 3]))
    with_tensor("bad_raw_strings", T(name="w", data_type=T.STRING, dims=[1], raw_data=b"a"))
    with_tensor("bad_string_count", T(name="w", data_type=T.STRING, dims=[2], string_data=[b"a"]))
    with_tensor("bad_negative_dim", T(name="w", data_type=F, dims=[-1], raw_data=b"1234"))
    with_tensor("bad_huge_dims", T(name="w", data_type=F, dims=[1 << 40, 1 << 40], raw_data=b"1234"))
    with_tensor("bad_large_dims", T(name="w", data_type=T.COMPLEX128, dims=[1 << 57], raw_data=b"1234"))
    with_tensor("bad_tensor_rank", T(name="w", data_type=F, dims=[1] * 17, raw_data=b"1234"))
    with_tensor("bad_tensor_type", T(name="w", data_type=98, dims=[1], raw_data=b"1234"))
    with_tensor("bad_tensor_without_type", T(name="w", dims=[1], raw_data=b"1234"))
    with_tensor("bad_segment", T(name="w", data_type=F, dims=[1], raw_data=b"1234", segment=T.Segment(begin=0, end=1)))
    with_tensor("bad_external_strings", T(name="w", data_type=T.STRING, dims=[1], data_location=T.EXTERNAL))
    for name, entries in {
        "absolute": {"location": "/etc/passwd"},
        "up": {"location": "data/../../models.cpp"},
        "empty": {},
        "folder": {"location": "data"},
        "slash": {"location": "data/weights.bin/"},
        "through_file": {"location": "data/weights.bin/x"},
        "missing": {"location": "data/missing.bin"},
        "length": {"location": "data/weights.bin", "length": 4},
        "past_end": {"location": "data/weights.bin", "offset": 1208, "length": 8},
        "overflow": {"location": "data/weights.bin", "offset": (1 << 64) - 4, "length": 8},
        "too_large": {"location": "data/weights.bin", "offset": 1 << 64, "length": 8},
        "negative": {"location": "data/weights.bin", "offset": -4, "length": 8},
        "zero_byte": {"location": "data/weights.bin\0x"},
    }.items():
        with_tensor("bad_external_" + name, external("w", [2], **entries))
    for name, indices, dims in (("order", [3, 1], [4]), ("twice", [1, 1], [4]), ("outside", [1, 4], [4]),
                                ("negative", [-1, 1], [4]), ("huge", [0, 1], [1 << 20, 1 << 20]), ("coordinates", [[0, 1], [0, 3]], [2, 3])):
        sparse = onnx.SparseTensorProto(values=constant("w", [1, 2]), indices=constant("i", indices, T.INT64), dims=dims)
        save("bad_sparse_" + name, model(graph(ADD, sparse_initializer=[sparse])))


def bad_attributes():
    def with_attribute(name, *attributes):
        n = node("LeakyRelu", ["x"], ["y"])
        n.attribute.extend(attributes)
        save("bad_attribute_" + name, model(graph([n])))

    A = AttributeProto
    alpha = helper.make_attribute("alpha", 0.5)
    with_attribute("twice", alpha, alpha)
    with_attribute("unknown", helper.make_attribute("beta", 0.5))
    with_attribute("type", helper.make_attribute("alpha", 1))
    with_attribute("mismatch", A(name="alpha", type=A.FLOAT, i=1))
    with_attribute("two_values", A(name="alpha", f=1, i=1))
    with_attribute("nothing", A(name="alpha"))
    with_attribute("no_tensor", A(name="alpha", type=A.TENSOR))
    with_attribute("future", future_attribute())
    with_attribute("reference", A(name="alpha", type=A.FLOAT, ref_attr_name="outer"))
    save("bad_constant_empty", model(graph([node("Constant", [], ["w"])] + ADD)))
    save("bad_constant_two", model(graph([node("Constant", [], ["w"], value_float=1.0, value_int=1)] + ADD)))
    save("bad_constant_input", model(graph([node("Constant", ["x"], ["w"], value_float=1.0)] + ADD)))


def future_attribute():
    """Type 77, which this onnx package has no name for: by hand in the wire format."""
    a = AttributeProto()
    a.ParseFromString(AttributeProto(name="alpha", f=1).SerializeToString() + b"\xa0\x01\x4d")
    return a


def bad_functions():
    call = lambda inputs, outputs, name="f", **attrs: node(name, inputs, outputs, domain="local", **attrs)

    def with_functions(name, g, *functions):
        save("bad_function_" + name, model(g, functions=functions, domains=["local"]))

    loop = function("f", ["a"], ["r"], [call(["a"], ["r"], "g")], imports=["local"])
    back = function("g", ["a"], ["r"], [call(["a"], ["r"], "f")], imports=["local"])
    with_functions("recursive", graph([call(["x"], ["y"])]), loop, back)
    f = function("f", ["a"], ["r"], [node("Neg", ["a"], ["r"])])
    with_functions("twice", graph([call(["x"], ["y"])]), f, f)
    with_functions("inputs", graph([call(["x", "x"], ["y"])]), f)
    with_functions("outputs", graph([call(["x"], ["y", "z"])]), f)
    with_functions("no_result", graph([call(["x"], ["y"])]), function("f", ["a"], ["r"], [node("Neg", ["a"], ["b"])]))
    with_functions("sees_caller", graph([call(["x"], ["y"])]), function("f", ["a"], ["r"], [node("Neg", ["x"], ["r"])]))
    with_functions("absent_passed_on", graph([call([], ["y"])]), function("f", ["a"], ["a"], []))
    with_functions("reference_type", graph([call(["x"], ["y"], alpha=1)]),
                   function("f", ["a"], ["r"], [ref("LeakyRelu", ["a"], ["r"], alpha=("alpha", AttributeProto.FLOAT))],
                            attributes=["alpha"]))
    no_import = function("f", ["a"], ["r"], [node("Neg", ["a"], ["r"])])
    del no_import.opset_import[:]
    with_functions("import", graph([call(["x"], ["y"])]), no_import)
    bomb = [function("f0", ["a"], ["r"], [])] + [
        function(f"f{i}", ["a"], ["r"], [call(["a"], [f"r{k}"], f"f{i - 1}") for k in range(2)] + [node("Neg", ["a"], ["r"])],
                 imports=["local"]) for i in range(1, 40)]
    bomb[0].node.append(node("Neg", ["a"], ["r"]))
    with_functions("bomb", graph([call(["x"], ["y"], "f39")]), *bomb)
    chain = [function("f0", ["a"], ["r"], [node("Neg", ["a"], ["r"])])] + [
        function(f"f{i}", ["a"], ["r"], [call(["a"], ["r"], f"f{i - 1}")], imports=["local"]) for i in range(1, 100)]
    with_functions("chain", graph([call(["x"], ["y"], "f99")]), *chain)


def bad_models():
    save("bad_opset_29", model(graph(ADD, initializers=[W]), opset=29))
    m = model(graph(ADD, initializers=[W]))
    m.opset_import[0].version = 0
    save("bad_opset_0", m)
    m.opset_import[0].version = 17
    m.opset_import.add(domain="ai.onnx", version=16)
    save("bad_opset_twice", m)
    save("bad_no_import", model(graph(ADD, initializers=[W]), opset=None))
    save("bad_ir_2", model(graph(ADD, initializers=[W]), ir=2))
    m = model(graph(ADD, initializers=[W]))
    m.ClearField("graph")
    save("bad_no_graph", m)
    save("bad_unknown_operators", model(graph([node("Foo", ["x"], ["a"], name="here"), node("Foo", ["a"], ["b"]),
                                             node("Bar", ["b"], ["y"], domain="com.example")])))
    for name, levels in (("good_deep", 10), ("bad_deep", 70)):
        save(name, nested(levels), expect=False)


def nested(levels):
    """An If in an If in an If ...: by hand in the wire format, as the onnx package refuses to go this deep."""
    def field(number, payload):
        length, size = b"", len(payload)
        while size > 127:
            length, size = length + bytes([size & 127 | 128]), size >> 7
        return bytes([number << 3 | 2]) + length + bytes([size]) + payload

    other = helper.make_attribute("else_branch", branch("e", [], ["x"]))
    inner = branch("b", [node("Neg", ["x"], ["v0"])], ["v0"]).SerializeToString()
    for i in range(1, levels + 1):
        attribute = AttributeProto(name="then_branch", type=AttributeProto.GRAPH).SerializeToString() + field(6, inner)
        n = node("If", ["c"], [f"v{i}"])
        n.attribute.append(other)
        inner = branch("b", [], [f"v{i}"]).SerializeToString() + field(1, n.SerializeToString() + field(5, attribute))
    inner += graph([], ["x", value("c", (), TensorProto.BOOL)], []).SerializeToString()
    return model(graph([], [], [])).SerializeToString() + field(7, inner)


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for old in HERE.glob("*.onnx"):
        old.unlink()
    for name, make in list(globals().items()):
        if name.startswith(("good_", "bad_")):
            make()
    print(len(list(HERE.glob("*.onnx"))), "models", file=sys.stderr)
