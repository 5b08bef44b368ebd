"""The back end of torch.compile by its name; what it does is PyTorch's own aot_eager."""


def hpu_backend(graph, inputs, **options):
    import torch

    return torch._dynamo.lookup_backend("aot_eager")(graph, inputs, **options)
