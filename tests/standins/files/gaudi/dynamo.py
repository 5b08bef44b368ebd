"""The back end of torch.compile by its name; what it does is PyTorch's own aot_eager."""

from typing import Any


def hpu_backend(graph: Any, inputs: Any, **options: Any) -> Any:
    """Compile a graph."""
    import torch  # noqa: PLC0415 - torch looks for this while it is imported

    return torch._dynamo.lookup_backend("aot_eager")(graph, inputs, **options)
