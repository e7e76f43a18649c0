package thanostest

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Container is the input that the program gets from a pod.
type Container struct {
	// Args start with "rule". Values follow "=": "--data-dir=/thanos/data".
	Args []string
	// Env is the whole environment. $(NAME) in an argument is replaced as by the kubelet.
	Env map[string]string
	// Files has the contents of the mounted files, by absolute path.
	Files map[string]string
}

// RuleFolder is the mount path of rule files in pods, with one folder per ConfigMap.
const RuleFolder = "/etc/thanos/rules"

// process is a [Container] that is adapted to this machine: below a folder, on free ports.
type process struct {
	root       string
	args, env  []string
	http, grpc int // ports
}

// newProcess moves a container below root. It changes paths in the two arguments that may be something else than a
// file, and where an argument or a configuration file has the path of one of the files.
func newProcess(c Container, root string, http, grpc int) process {
	p := process{root: root, http: http, grpc: grpc}
	moved := c.mover(root)
	for _, arg := range c.Args {
		name, value, _ := strings.Cut(expand(arg, c.Env), "=")
		switch name {
		case "--data-dir", "--rule-file":
			value = root + value
		case "--http-address":
			value = withPort(value, http)
		case "--grpc-address":
			value = withPort(value, grpc)
		default:
			value = moved.Replace(value)
		}
		if strings.Contains(arg, "=") {
			name += "=" + value
		}
		p.args = append(p.args, name)
	}
	p.defaultTo("--http-address", http)
	p.defaultTo("--grpc-address", grpc)
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		p.env = append(p.env, name+"="+c.Env[name])
	}
	return p
}

// defaultTo adds a listen address if there is none.
func (p *process) defaultTo(name string, port int) {
	if !slices.ContainsFunc(p.args, func(arg string) bool { return strings.HasPrefix(arg, name+"=") }) {
		p.args = append(p.args, fmt.Sprintf("%s=127.0.0.1:%d", name, port))
	}
}

// withPort replaces the port of an address. An invalid address is unchanged, for the program to reject.
func withPort(address string, port int) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return net.JoinHostPort(host, fmt.Sprint(port))
}

// mover returns a replacer that prefixes the paths of the files with root.
func (c Container) mover(root string) *strings.Replacer {
	names := slices.SortedFunc(maps.Keys(c.Files), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, name := range names {
		pairs = append(pairs, name, root+name)
	}
	return strings.NewReplacer(pairs...)
}

// write writes the files below root. Rules are not modified, because a path in an annotation is only text.
func (c Container) write(root string) error {
	moved := c.mover(root)
	for name, content := range c.Files {
		if !path.IsAbs(name) {
			return fmt.Errorf("file %s: the path is not absolute", name)
		}
		if !isRuleFile(name) {
			content = moved.Replace(content)
		}
		if err := os.MkdirAll(filepath.Dir(root+name), 0o755); err != nil {
			return fmt.Errorf("make folder of %s: %w", name, err)
		}
		if err := os.WriteFile(root+name, []byte(content), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func isRuleFile(name string) bool { return strings.HasPrefix(name, RuleFolder+"/") }

var references = regexp.MustCompile(`\$(\$|\([^)]*\))`)

// expand replaces $(NAME) with the variable like the kubelet does: an unknown one is unchanged, and $$ is a single $.
func expand(arg string, env map[string]string) string {
	return references.ReplaceAllStringFunc(arg, func(ref string) string {
		if ref == "$$" {
			return "$"
		}
		if value, ok := env[ref[2:len(ref)-1]]; ok {
			return value
		}
		return ref
	})
}
