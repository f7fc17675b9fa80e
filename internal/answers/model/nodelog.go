package model

// NodeLog is a part of a node's log.
type NodeLog struct {
	Node   string        `json:"node"`
	Lines  []NodeLogLine `json:"lines" doc:"Oldest first."`
	Before *int64        `json:"before" doc:"Ask with this for the lines before; null at the beginning of the file."`
	Size   int64         `json:"size" doc:"Bytes of the file. A full file is started again, which shrinks this number."`
}

// NodeLogLine is one line.
type NodeLogLine struct {
	At    int64  `json:"at" doc:"Byte of the file at which it begins."`
	Time  string `json:"time" doc:"Time as written in the line; empty if the line has no time."`
	Level string `json:"level" enum:",DEBUG,INFO,WARN,ERROR" doc:"Empty if the line has no level."`
	Text  string `json:"text" doc:"The whole line, cut at 4,096 bytes."`
}
