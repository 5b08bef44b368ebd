"""The libraries of the helpers, in folders by purpose.

All in one package, whose name nothing else has: a helper's folder is the first place where Python looks, and whatever
torch, pip or a suite of tests import beside it has to be their own.
"""
