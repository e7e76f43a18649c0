package chaos

// Fault is a disturbance while a change is made.
type Fault struct {
	Name  string
	About string // what happens, until when
}

// Faults returns the faults that are combined with each step of each scenario.
func Faults() []Fault {
	return []Fault{
		{"slow", "every answer takes 300 ms"},
		{"paused", "nothing is answered and no watch delivers, until after the change"},
		{"writes hang", "writes are not answered, and the client gives up or they are answered late"},
		{"too many requests", "each different request is refused twice with 429 and Retry-After"},
		{"internal errors", "all writes are refused with 500, six times"},
		{"unavailable", "all watches end, and all requests are refused with 503, thirty times"},
		{"conflicts", "each update is refused with 409 the first nine times, and each patch and update of a status the first three times"},
		{"watches end", "all watches end before and after the change"},
		{"watches expire", "all watches end, and the next ones are refused with 410, so that everything is listed again"},
		{"watches refused", "all watches end, and new ones are refused with 410, until forty were refused"},
		{"watches unanswered", "all watches end, and new ones get no answer, not even a header, until their connections break after the change"},
		{"watches have a limit", "each watch ends a second after it has begun, as behind a proxy that limits the time of requests"},
		{"bad gateway", "each different request is answered twice with 502 and a page of HTML, as by a proxy"},
		{"watches stall", "watches deliver nothing, until their connections break"},
		{"answers are cut", "the first answer to each different request breaks off in the middle"},
		{"writes without answer", "the connection breaks after the API server has applied a write, once for each"},
		{"lists are cut", "all watches end, the next ones are refused with 410, and the first list of each kind breaks off in the middle"},
		{"quota", "a quota refuses new ConfigMaps, Services and StatefulSets, until three were refused"},
		{"webhook refuses", "an admission webhook of others refuses what the operator writes, until three writes were refused"},
		{"webhook annotates", "an admission webhook of others adds an annotation to what the operator writes"},
		{"webhook reverts", "an admission webhook of others changes the pods of StatefulSets and the content of ConfigMaps that the operator writes, until the operator rests"},
		{"no permissions", "the operator loses all permissions and watches, until thirty requests were refused"},
	}
}
