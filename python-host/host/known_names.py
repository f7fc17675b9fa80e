"""Which names the host knows: built-ins, types, and the methods of built-in
types, whose calls are charged as a list's are and not as a function's. They are
written out, since another version of Python has others."""

TYPES = frozenset("int bool str bytes bytearray list tuple dict set frozenset range".split())
FUNCTIONS = frozenset(
    "abs all any ascii bin callable chr delattr divmod enumerate filter format getattr hasattr hex isinstance "
    "issubclass iter len map max min next oct ord pow print repr reversed round setattr sorted sum type zip".split()
)
BUILTINS = TYPES | FUNCTIONS
STATICS = frozenset("int.from_bytes str.maketrans bytes.fromhex bytearray.fromhex dict.fromkeys".split())  # functions of a type's own


METHOD_NAMES = frozenset(
    """_MutableMapping__marker _abc_impl _keep_positive add adjusted appendleft as_integer_ratio as_tuple bit_count
    bit_length c_contiguous canonical capitalize casefold cast center clear close compare compare_signal
    compare_total compare_total_mag conjugate contiguous copy copy_abs copy_negate copy_sign count decode
    default_factory deleter denominator difference difference_update discard elements encode end endpos endswith exp
    expand expandtabs extend extendleft f_contiguous fdel fget find findall finditer flags fma format format_map
    from_bytes from_float fromhex fromkeys fset fullmatch get getter gi_code gi_frame gi_running gi_suspended
    gi_yieldfrom group groupdict groupindex groups has_uniform hex imag index indices insert intersection
    intersection_update is_canonical is_finite is_infinite is_integer is_nan is_normal is_qnan is_signed is_snan
    is_subnormal is_zero isalnum isalpha isascii isdecimal isdigit isdisjoint isidentifier islower isnumeric
    isprintable isspace issubset issuperset istitle isupper items itemsize join keys lastgroup lastindex ljust ln
    log10 logb logical_and logical_invert logical_or logical_xor lower lstrip maketrans mapping match max max_mag
    maxlen min min_mag most_common move_to_end nbytes ndim new_child next_minus next_plus next_toward normalize
    number_class numerator obj parents partition pattern pop popitem popleft pos prefixes quantize radix re readonly
    real regs release remainder_near remove removeprefix removesuffix replace reverse rfind rindex rjust rotate
    rpartition rsplit rstrip same_quantum scaleb scanner search send setdefault setter shape shift sort span split
    splitlines sqrt start startswith step stop strides string strip sub subn suboffsets subtract swapcase
    symmetric_difference symmetric_difference_update throw title to_bytes to_eng_string to_integral
    to_integral_exact to_integral_value tobytes tolist toreadonly total translate union update upper values zfill""".split()
)
