"""The host of Python actors: what runs beside and around their code.

Every import goes down, from main to meter; a test reads them
(internal/environment/pyhost).
"""
