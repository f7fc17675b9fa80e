package model

// Links are the links between the nodes of a network.
type Links struct {
	Nodes []LinkNode `json:"nodes"`
	Links []Link     `json:"links" doc:"One entry per direction. A single validator's API lists only links from that validator."`
}

// LinkNode is an end of links.
type LinkNode struct {
	Name    string `json:"name"`
	Kind    string `json:"kind" enum:"validator,runner"`
	Running bool   `json:"running"`
}

// Link is the direction from one node to another.
type Link struct {
	From     string    `json:"from" doc:"Name of the node that sends."`
	To       string    `json:"to"`
	Up       bool      `json:"up" doc:"The two are connected."`
	Cut      bool      `json:"cut" doc:"A partition or bridge is between them."`
	Rule     *LinkRule `json:"rule" doc:"Effect of a fault on the link's packets; null without a fault."`
	Dropped  *uint64   `json:"dropped" doc:"Packets that cuts and rules dropped; null if the sender is in another process."`
	Delayed  *uint64   `json:"delayed" doc:"Packets that rules delayed; null likewise."`
	Frames   *uint64   `json:"frames" doc:"Frames between validators since the sender started; null if they are not counted."`
	Bytes    *uint64   `json:"bytes" doc:"Bytes of these frames."`
	Lost     *uint64   `json:"lost" doc:"Frames that were not sent: the queue was full, or no connection came up."`
	RTTMicro *uint64   `json:"rtt_us" doc:"Smoothed round-trip time in microseconds; null if it is not measured."`
}

// LinkRule is what a fault of a link does to what passes. Its fields are the fields
// of the order.
type LinkRule struct {
	_         struct{} `nullable:"true"`
	Latency   string   `json:"latency,omitempty" example:"20ms"`
	Jitter    string   `json:"jitter,omitempty"`
	Loss      float64  `json:"loss,omitempty"`
	Duplicate float64  `json:"duplicate,omitempty"`
	Reorder   float64  `json:"reorder,omitempty"`
	Bandwidth int64    `json:"bandwidth,omitempty" doc:"Bytes a second."`
}
