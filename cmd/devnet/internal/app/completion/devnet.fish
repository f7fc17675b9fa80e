# fish completion of devnet. In config.fish: devnet completion fish | source
function __devnet_complete
    set -l typed (commandline -opc)
    set -l program $typed[1]
    set -e typed[1]
    $program __complete $typed (commandline -ct | string collect --allow-empty) 2>/dev/null
end
complete -c devnet -a '(__devnet_complete)'
