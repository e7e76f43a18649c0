package promconfig

import "github.com/firekeeper-dev/firekeeper/internal/gate"

// sharded processes additional jobs like the frame does.
func sharded(text []byte, s *Settings) (out []byte, n int, err error) {
	jobs, err := parseAdditional(text)
	if err != nil {
		return nil, 0, err
	}
	if jobs, err = shardJobs(jobs, s.shardByAddress, s.target); err != nil {
		return nil, 0, err
	}
	out, _, err = gate.AppendItems(nil, jobs, s.target, "")
	return out, len(jobs), err
}

func parseAdditional(text []byte) ([]gate.Node, error) { return gate.ParseList(text) }
