package budget

// Room is a limit for the total cost of all objects of a kind in the server of a workload. It grows with their number, so that
// any number of usual objects fits, while the objects of a hostile namespace add little.
type Room struct {
	All  int // for any number of objects
	Each int // in addition, for each object
}

// For returns the room for a number of objects.
func (r Room) For(objects int) int { return r.All + r.Each*objects }

var (
	// ServerRegexps is the compiled size of the regular expressions of all monitors, all rules or all AlertmanagerConfigs of a
	// workload: 130 MB to 1 GB of the memory of the server. An object may have a thirtieth of it, or an eighth in rules.
	// Each object adds what about thirty steps with ten alternatives have.
	ServerRegexps = Room{All: 16 << 20, Each: 2_048}
	// ServerMatcherWork is like MatcherWork, for all AlertmanagerConfigs of an Alertmanager: half a second for an alert whose
	// labels have 30 characters.
	ServerMatcherWork = Room{All: 100 * MatcherWork, Each: 200}
	// ServerEffort is like ExpressionEffort, for all rules of a workload: a server parses all of them again at each reload,
	// in about 20 s, and a millisecond more for each object. 20 alerts with 30 words in 600 bytes use a third of that.
	ServerEffort = Room{All: 16 * ExpressionEffort, Each: 1_000_000}
)
