"""Ordering without torch: the encoder in ONNX Runtime, the decoder in numpy, on the weights of the model folder."""
