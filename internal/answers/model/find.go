package model

// Kinds of things that a search finds.
const (
	FoundBlock     = "block"
	FoundTimer     = "timer"
	FoundJob       = "job"
	FoundTx        = "tx"
	FoundActor     = "actor"
	FoundAccount   = "account"
	FoundRunner    = "runner"
	FoundValidator = "validator"
	FoundView      = "view"
	FoundHandler   = "handler"
)

// Found is what a text may mean.
type Found struct {
	Query string `json:"query" doc:"The text, without spaces around it."`
	Hits  []Hit  `json:"hits" doc:"Exact names first, then beginnings, then parts of names."`
	Cut   bool   `json:"cut" doc:"There are more than the limit, or more actors than were looked through for handlers."`
}

// Hit is one thing that a text may mean.
type Hit struct {
	Kind    string `json:"kind" enum:"block,timer,job,tx,actor,account,runner,validator,view,handler"`
	ID      string `json:"id" doc:"Height, hash, address or number; of a validator and of a runner of the devnet's own its name, of a handler the address of its actor."`
	Name    string `json:"name" doc:"Its name, or of a handler the actor's and its own; empty where it has none."`
	Handler string `json:"handler,omitempty" doc:"Of a handler, its name."`
}
