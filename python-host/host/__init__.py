"""The host of Python actors: the modules that load, meter and run their code.

Every import goes down, from main to meter; a test reads them
(internal/environment/pyhost).
"""
