package model

// Links are the links between the nodes of a network.
type Links struct {
	Nodes []LinkNode `json:"nodes"`
	Links []Link     `json:"links" doc:"One for each direction. Who answers for one node alone lists those from it."`
}

// LinkNode is an end of links.
type LinkNode struct {
	Name    string `json:"name"`
	Kind    string `json:"kind" enum:"validator,runner"`
	Running bool   `json:"running"`
}

// Link is what one node sends another.
type Link struct {
	From     string    `json:"from" doc:"Name of the node that sends."`
	To       string    `json:"to"`
	Up       bool      `json:"up" doc:"The two are connected."`
	Cut      bool      `json:"cut" doc:"A partition or bridge is between them."`
	Rule     *LinkRule `json:"rule" doc:"What a fault of the link does to what passes; null where none does."`
	Dropped  *uint64   `json:"dropped" doc:"Packets that cuts and rules lost; null where the sender is in another process."`
	Delayed  *uint64   `json:"delayed" doc:"Packets that rules delayed; null likewise."`
	Frames   *uint64   `json:"frames" doc:"Sent between validators since the sender started; null where nobody counts."`
	Bytes    *uint64   `json:"bytes" doc:"Of these frames."`
	Lost     *uint64   `json:"lost" doc:"Frames that were not sent: the queue was full, or no connection came up."`
	RTTMicro *uint64   `json:"rtt_us" doc:"Smoothed time there and back in microseconds; null where none is measured."`
}

// LinkRule is what a fault of a link does to what passes. Its fields are those of the
// order.
type LinkRule struct {
	_         struct{} `nullable:"true"`
	Latency   string   `json:"latency,omitempty" example:"20ms"`
	Jitter    string   `json:"jitter,omitempty"`
	Loss      float64  `json:"loss,omitempty"`
	Duplicate float64  `json:"duplicate,omitempty"`
	Reorder   float64  `json:"reorder,omitempty"`
	Bandwidth int64    `json:"bandwidth,omitempty" doc:"Bytes a second."`
}
