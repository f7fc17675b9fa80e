package model

// Retold is what was done by hand to a network, as a script that does it again.
type Retold struct {
	Script  string       `json:"script" doc:"A scenario in Starlark. Each deed comes at the height at which it came."`
	Files   []RetoldFile `json:"files" doc:"The code of actors that the script deploys, to be put into its folder."`
	LeftOut []string     `json:"left_out" doc:"What the script does not do again, and why. They are comments of it too."`
}

// RetoldFile is a file that a retold script needs.
type RetoldFile struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}
