package nearmiss

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// bound has the addresses on which the containers of pods listen, according to their arguments.
type bound struct {
	local map[int32]string // arguments by which they listen on the loopback interface only, by port
	open  []int32          // ports on other interfaces
	all   string           // the argument if it is for every port
}

// listens matches an argument with addresses to listen on.
var listens = lazyregexp.New(`^--?[a-z0-9.-]*(?:listen|bind|address|addr)[a-z0-9.-]*=(.+)$`)

// maxArgument is the maximum length in bytes of an argument that is read.
const maxArgument = 256

// mostPorts is the maximum number of ports on which pods listen that are read.
const mostPorts = 64

// argument evaluates an argument of a container.
func (b *bound) argument(arg string) {
	if len(arg) > maxArgument || len(b.local)+len(b.open) > mostPorts {
		return
	}
	m := listens.FindStringSubmatch(arg)
	if m == nil {
		return
	}
	if arg == "--bind-address=127.0.0.1" {
		b.all = arg
	}
	for address := range strings.SplitSeq(m[1], ",") {
		if _, rest, is := strings.Cut(address, "://"); is {
			address = rest
		}
		address = strings.TrimSuffix(address, "/")
		i := strings.LastIndexByte(address, ':')
		if i < 0 {
			continue
		}
		port, err := strconv.ParseUint(address[i+1:], 10, 16)
		switch host := address[:i]; {
		case err != nil || port == 0:
		case strings.HasPrefix(host, "127.") || host == "localhost" || host == "[::1]":
			if b.local == nil {
				b.local = map[int32]string{}
			}
			b.local[int32(port)] = arg
		default:
			b.open = append(b.open, int32(port))
		}
	}
}

// on returns the argument by which a port can be reached from inside of the pod only; empty if there is none.
func (b *bound) on(port int32) string {
	if slices.Contains(b.open, port) {
		return ""
	}
	return cmp.Or(b.local[port], b.all)
}

// loopback returns a note when the pods listen on the loopback interface only.
func (s scrape) loopback(field string, ports []foundPort) []Hint {
	for _, p := range ports {
		for _, b := range p.behind {
			port := cmp.Or(p.leadsTo, p.target)
			arg := b.bound.on(port)
			if aside := arg == b.bound.all && len(b.containers) > 1; port != 0 && arg != "" && !aside && !b.made { // another container may be its proxy
				return []Hint{{Code: Remark, Note: true, Field: field, Message: fmt.Sprintf(
					"%s leads to port %d of %s, which listens on the loopback interface only (%s), so each scrape is refused: let it listen on 0.0.0.0 or the address of the pod", p, port, b, arg)}}
			}
		}
	}
	return nil
}
