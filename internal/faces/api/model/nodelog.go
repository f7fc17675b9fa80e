package model

// NodeLog is a part of what a node logged.
type NodeLog struct {
	Node   string        `json:"node"`
	Lines  []NodeLogLine `json:"lines" doc:"Oldest first."`
	Before *int64        `json:"before" doc:"Ask with this for the lines before; null at the beginning of the file."`
	Size   int64         `json:"size" doc:"Bytes of the file. It begins anew when it is full: less than before says so."`
}

// NodeLogLine is one line.
type NodeLogLine struct {
	At    int64  `json:"at" doc:"Byte of the file at which it begins."`
	Time  string `json:"time" doc:"As the line has it; empty where it has none."`
	Level string `json:"level" enum:",DEBUG,INFO,WARN,ERROR" doc:"Empty where the line has none."`
	Text  string `json:"text" doc:"The whole line, cut at 4,096 bytes."`
}
