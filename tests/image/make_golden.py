#!/usr/bin/env python3
# Makes tests/image/data: small pictures of every kind, and beside each what Pillow makes of it (raw RGB bytes).
#
#   pip install pillow==13.0.0 numpy==2.4.6
#   tests/image/make_golden.py
#
# X.png, X.jpg   inputs; X.rgb: expected pixels. Names ending in _interlaced or _trns share the expectation of X.
# photo.rgb      the 64x48 source of the resize_* and fit_* files; each name says filter and size
import io
import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

DATA = Path(__file__).resolve().parent / "data"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by PNG colour type
KINDS = {0: "gray", 2: "rgb", 3: "palette", 4: "gray_alpha", 6: "rgb_alpha"}
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
random = np.random.RandomState(7)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def pack_rows(values, depth):
    """Scanlines of `values` [h, w, channels], each with filter byte 0 (none)."""
    out = b""
    for row in values.reshape(values.shape[0], -1) if values.size else []:
        if depth == 16:
            data = row.astype(">u2").tobytes()
        else:
            bits = (row[:, None] >> np.arange(depth - 1, -1, -1)) & 1
            data = np.packbits(bits.astype(np.uint8).ravel()).tobytes()
        out += b"\0" + data
    return out


def png(values, depth, colour, interlaced=False, extra=b"", size=None):
    height, width = values.shape[:2]
    passes = [values[y::dy, x::dx] for x, y, dx, dy in ADAM7] if interlaced else [values]
    raw = b"".join(pack_rows(part, depth) for part in passes)
    header = struct.pack(">IIBBBBB", *(size or (width, height)), depth, colour, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(raw))
            + chunk(b"IEND", b""))


def tiff(orientation, order="<"):
    """A TIFF block with two entries: ImageWidth, Orientation."""
    entries = [(0x0100, 4, 24), (0x0112, 3, orientation)]
    out = (b"II" if order == "<" else b"MM") + struct.pack(order + "HIH", 42, 8, len(entries))
    for tag, kind, value in entries:
        out += struct.pack(order + "HHI", tag, kind, 1) + struct.pack(order + ("I" if kind == 4 else "HH"),
                                                                      *([value] if kind == 4 else [value, 0]))
    return out + struct.pack(order + "I", 0)


def picture(width, height):
    """Smooth colours with edges and some noise."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [127 + 120 * np.sin(x / 9 + c) * np.cos(y / (7 + c)) for c in range(3)]
    out = np.stack(planes, 2) + random.normal(0, 12, (height, width, 3))
    out[height // 4:height // 3, :, 0] = 255
    out[:, width // 2:width // 2 + 2] = 0
    return np.clip(out, 0, 255).astype(np.uint8)


def write(name, data):
    (DATA / name).write_bytes(data)


def pillow_rgb(data):
    return np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))


def make_png():
    for depth, colour in [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (8, 2), (16, 2), (1, 3), (2, 3), (4, 3), (8, 3),
                          (8, 4), (16, 4), (8, 6), (16, 6)]:
        entries = min(2 ** depth, 200)
        values = random.randint(0, entries if colour == 3 else 2 ** depth, (9, 11, CHANNELS[colour]))
        palette = chunk(b"PLTE", random.bytes(3 * entries)) if colour == 3 else b""
        stem = f"png_{KINDS[colour]}_{depth}"
        data = png(values, depth, colour, extra=palette)
        # Pillow clips 16-bit gray at 255; the high byte is what it takes for 16-bit colours.
        expected = np.repeat(values >> 8, 3, 2).astype(np.uint8) if (depth, colour) == (16, 0) else pillow_rgb(data)
        write(stem + ".png", data)
        write(stem + ".rgb", expected.tobytes())
        write(stem + "_interlaced.png", png(values, depth, colour, True, palette))
        if colour in (0, 2, 3):
            trns = {0: b"\0\1", 2: b"\0\1\0\2\0\3", 3: bytes([0, 128])}[colour]
            trns_data = png(values, depth, colour, extra=palette + chunk(b"tRNS", trns))
            assert (depth, colour) == (16, 0) or (pillow_rgb(trns_data) == expected).all(), stem
            write(stem + "_trns.png", trns_data)
    write("png_huge.png", png(np.zeros((1, 1, 3), int), 8, 2, size=(60000, 60000)))
    values = picture(11, 9).astype(int)
    data = png(values, 8, 2, extra=chunk(b"eXIf", tiff(6, ">")))
    write("png_exif_6.png", data)
    write("png_exif_6.rgb", pillow_rgb(data).tobytes())


def jpeg(image, **options):
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", **{"quality": 90, **options})
    return buffer.getvalue()


def make_jpeg():
    rgb = Image.fromarray(picture(37, 21))
    cmyk = Image.merge("CMYK", [Image.fromarray(picture(37, 21)[:, :, 0]) for _ in range(4)])
    adobe = jpeg(cmyk)
    flag = adobe.index(b"Adobe") + 11  # the colour transform: 2 makes the same coefficients YCCK
    files = {
        "jpeg_444": jpeg(rgb, subsampling=0), "jpeg_422": jpeg(rgb, subsampling=1), "jpeg_420": jpeg(rgb, subsampling=2),
        "jpeg_progressive": jpeg(rgb, progressive=True), "jpeg_gray": jpeg(rgb.convert("L")),
        "jpeg_restart": jpeg(rgb, restart_marker_blocks=2), "jpeg_cmyk": adobe,
        "jpeg_ycck": adobe[:flag] + b"\2" + adobe[flag + 1:],
    }
    small = Image.fromarray(picture(13, 7))
    for orientation in range(1, 9):
        block = b"Exif\0\0" + tiff(orientation, "<>"[orientation % 2])
        files[f"jpeg_exif_{orientation}"] = jpeg(small, subsampling=0, exif=block)
    for name, data in files.items():
        write(name + ".jpg", data)
        write(name + ".rgb", pillow_rgb(data).tobytes())


def make_resized():
    photo = picture(64, 48)
    image = Image.fromarray(photo)
    write("photo.rgb", photo.tobytes())
    write("photo.gray", image.convert("L").tobytes())
    sizes = {"bilinear": [(32, 24), (17, 13), (7, 5), (1, 1), (90, 70), (64, 11), (9, 48), (100, 10), (5, 80)],
             "bicubic": [(17, 13), (80, 60)], "nearest": [(17, 13), (90, 70)], "box": [(17, 13)], "lanczos": [(17, 13)]}
    for name, targets in sizes.items():
        kind = Image.Resampling[name.upper()]
        for width, height in targets:
            # Two calls, so that the horizontal pass is the first in any version of Pillow.
            first = image if name == "nearest" else image.resize((width, image.height), kind)
            write(f"resize_{name}_{width}x{height}.rgb", first.resize((width, height), kind).tobytes())
    # torchvision's Resize(37), CenterCrop(32): what "imagenet" does for a model of 32x32 (37 is 32 * 256 / 224).
    scaled = image.resize((37 * 64 // 48, 48), Image.Resampling.BILINEAR).resize((37 * 64 // 48, 37),
                                                                                 Image.Resampling.BILINEAR)
    left, top = round((scaled.width - 32) / 2), round((scaled.height - 32) / 2)
    write("fit_imagenet_32x32.rgb", scaled.crop((left, top, left + 32, top + 32)).tobytes())


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    make_png()
    make_jpeg()
    make_resized()
