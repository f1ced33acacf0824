# The two commands of the README. Everything else is tools/dev.
.PHONY: demo test

# A real photo classified by a real ImageNet model, on the best device present.
demo:
	@tools/setup.sh build
	@tools/build.sh release
	@build/release/hipforge run assets/efficientnet_lite0.onnx --image assets/photo.jpg --labels assets/imagenet_labels.txt

# Every test.
test:
	@tools/setup.sh build test
	@tools/build.sh dev
	@python3 tools/run_tests.py
