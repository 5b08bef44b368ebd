"""Stand-ins for what the plans of the torch profiles need and a test machine lacks: upstream trees and oneAPI."""
