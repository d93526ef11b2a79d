"""Reads measurements from Millrace into pandas and Arrow, and publishes measurements."""

from .client import Millrace, Problem
from .publisher import Publisher

__all__ = ['Millrace', 'Problem', 'Publisher']
