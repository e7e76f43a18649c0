package thanostest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"
)

// Names of the metrics for reloads.
const (
	reloadSuccessful = "thanos_rule_config_last_reload_successful"
	reloadTime       = "thanos_rule_config_last_reload_success_timestamp_seconds"
)

// Group is a loaded rule group.
type Group struct {
	Name, File              string
	Interval                float64
	Limit                   int
	PartialResponseStrategy string
	Rules                   []Rule
}

// Rule is a rule of a [Group].
type Rule struct {
	Name, Query, Type   string
	Duration            float64 // value of for, in seconds
	KeepFiringFor       float64
	Labels, Annotations map[string]string
}

// Rules returns the loaded groups, by file and name.
func (s *Server) Rules(ctx context.Context) ([]Group, error) {
	var answer struct{ Data struct{ Groups []Group } }
	body, err := s.get(ctx, s.api("/api/v1/rules"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	groups := answer.Data.Groups
	for i := range groups {
		groups[i].File = strings.TrimPrefix(groups[i].File, s.root)
	}
	slices.SortFunc(groups, func(a, b Group) int { return strings.Compare(a.File+"\n"+a.Name, b.File+"\n"+b.Name) })
	return groups, nil
}

// loadedAll returns an error with the rule files that have groups of which none was loaded.
func (s *Server) loadedAll(ctx context.Context) error {
	groups, err := s.Rules(ctx)
	if err != nil {
		return err
	}
	loaded := map[string]bool{}
	for _, g := range groups {
		loaded[g.File] = true
	}
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(s.container.Files)) {
		var file struct{ Groups []any }
		if isRuleFile(name) && yaml.Unmarshal([]byte(s.container.Files[name]), &file) == nil && len(file.Groups) > 0 && !loaded[name] {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("thanos runs, but has not loaded %q", missing)
	}
	return nil
}

// Reload requests a reload and returns the status and the body of the response.
func (s *Server) Reload(ctx context.Context) (status int, text string, err error) {
	status, body, err := s.do(ctx, http.MethodPost, s.api("/-/reload"))
	return status, strings.TrimSpace(strings.ReplaceAll(string(body), s.root, "")), err
}

// Metric returns the value of a metric without labels, or 0 if there is none.
func (s *Server) Metric(ctx context.Context, name string) (float64, error) {
	body, err := s.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(bytes.NewReader(body))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, lines.Err()
}

// URL returns the URL of an API path such as "/-/reload", including the prefix.
func (s *Server) URL(path string) string { return s.url + s.api(path) }

// Put replaces the content of rule files. The program reads them on the next Reload.
func (s *Server) Put(files map[string]string) error {
	return Container{Files: files}.write(s.root)
}

// Log returns the output of the program, with the paths of the container.
func (s *Server) Log() string { return strings.ReplaceAll(s.log.String(), s.root, "") }

// api returns a path below the prefix.
func (s *Server) api(path string) string { return strings.TrimSuffix(s.prefix, "/") + path }

// value returns the value of an argument, the last one if it is repeated.
func (c Container) value(name string) string {
	value := ""
	for _, arg := range c.Args {
		if v, ok := strings.CutPrefix(arg, name+"="); ok {
			value = expand(v, c.Env)
		}
	}
	return value
}

// connect determines whether the program will use TLS. The client presents the server's own certificate, for a
// web configuration that requires one.
func (s *Server) connect() {
	var web struct {
		TLS struct {
			Cert string `yaml:"cert_file"`
			Key  string `yaml:"key_file"`
		} `yaml:"tls_server_config"`
	}
	content, err := os.ReadFile(s.root + s.container.value("--http.config"))
	scheme := "http"
	settings := &tls.Config{InsecureSkipVerify: true} // the certificate is from the test
	if err == nil && yaml.Unmarshal(content, &web) == nil && web.TLS.Cert != "" {
		scheme = "https"
		if pair, err := tls.LoadX509KeyPair(web.TLS.Cert, web.TLS.Key); err == nil {
			settings.Certificates = []tls.Certificate{pair}
		}
	}
	s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: settings}}
	s.url = fmt.Sprintf("%s://127.0.0.1:%d", scheme, s.http)
}

func (s *Server) get(ctx context.Context, path string) ([]byte, error) {
	status, body, err := s.do(ctx, http.MethodGet, path)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("GET %s: status %d: %.300s", path, status, body)
	}
	return body, err
}

func (s *Server) do(ctx context.Context, method, path string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}
