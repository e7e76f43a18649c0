package footprint

import "bytes"

// variableBytes is the assumed maximum size of the value of an environment variable, in
// bytes: those that Kubernetes and images set in every container (KUBERNETES_SERVICE_HOST,
// PATH) and names of Kubernetes are shorter.
const variableBytes = 256

// shortVariables are the maximum sizes of the values of variables that generated
// configurations have once in each job.
var shortVariables = map[string]int{"SHARD": 8, "INZONE_SHARD": 8, "STATEFULSET_ORDINAL_NUMBER": 8, "TOPOLOGY_ZONE": 64, "POD_NAME": 64}

// Substitution returns by how many bytes a text can grow when config-reloader substitutes
// the variables in it. A short reference to a long variable grows to many times its size.
func Substitution(text []byte) (growth int) {
	for {
		i := bytes.Index(text, []byte("$("))
		if i < 0 {
			return growth
		}
		text = text[i+2:]
		end := bytes.IndexFunc(text, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
		})
		if end <= 0 || text[end] != ')' {
			continue
		}
		value, short := shortVariables[string(text[:end])]
		if !short {
			value = variableBytes
		}
		growth += max(0, value-end-len("$()"))
		text = text[end:]
	}
}
