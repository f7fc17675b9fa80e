#compdef devnet
# zsh completion of devnet: as _devnet in a folder of fpath, or in .zshrc after
# compinit: source <(devnet completion zsh)
_devnet() {
    local -a found
    local name what
    while IFS=$'\t' read -r name what; do
        found+=("${name//:/\\:}:$what")
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( $#found )); then
        _describe devnet found
    else
        _files
    fi
}
if [[ ${funcstack[1]} == _devnet ]]; then
    _devnet "$@"
else
    compdef _devnet devnet
fi
