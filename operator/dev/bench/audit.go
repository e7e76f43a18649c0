package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// auditPolicy logs each write once, before it is answered.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: Metadata, users: [admin], verbs: [create, update, patch, delete, deletecollection]}
- {level: None}
`

// agent is how the operator calls itself. The benchmark is the same user.
const agent = "PrometheusOperator/"

// auditLog is the log of writes of an API server.
type auditLog struct {
	dir string
	at  int64 // read up to here
}

// newAuditLog returns a log with the arguments of kube-apiserver that write it. The caller must remove it.
func newAuditLog() (*auditLog, []string, error) {
	dir, err := os.MkdirTemp("", "bench-audit-")
	if err != nil {
		return nil, nil, err
	}
	a := &auditLog{dir: dir}
	policy := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, nil, err
	}
	return a, []string{"--audit-policy-file=" + policy, "--audit-log-path=" + a.file(), "--audit-log-mode=blocking", "--audit-log-maxsize=100000"}, nil
}

func (a *auditLog) file() string { return filepath.Join(a.dir, "audit.log") }

func (a *auditLog) remove() error { return os.RemoveAll(a.dir) }

// writes returns the operator's writes since the last call, by verb and resource. Questions about permissions are not
// writes.
func (a *auditLog) writes() (map[string]int, error) {
	f, err := os.Open(a.file())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(a.at, io.SeekStart); err != nil {
		return nil, err
	}
	out := map[string]int{}
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF { // a line without its end is read next time
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		a.at += int64(len(line))
		var e struct {
			Verb      string
			UserAgent string
			ObjectRef struct{ Resource, Subresource, APIGroup string }
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		if review := e.ObjectRef.APIGroup; !strings.HasPrefix(e.UserAgent, agent) || review == "authorization.k8s.io" || review == "authentication.k8s.io" {
			continue
		}
		what := e.Verb + " " + e.ObjectRef.Resource
		if e.ObjectRef.Subresource != "" {
			what += "/" + e.ObjectRef.Subresource
		}
		out[what]++
	}
}

func total(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}
