# bash completion of devnet. In .bashrc: source <(devnet completion bash)
_devnet() {
    local name
    COMPREPLY=()
    while IFS=$'\t' read -r name _; do
        COMPREPLY+=("$name")
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _devnet devnet
