def __autoload():
    """Entry point of the group torch.backends."""
    import habana_frameworks.torch
