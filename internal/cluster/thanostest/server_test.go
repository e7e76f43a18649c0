package thanostest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"debug/buildinfo"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The program is built with the tag without which it starts, but panics on a gRPC request for its
// labels.
func TestBuild(t *testing.T) {
	info, err := buildinfo.ReadFile(string(Find(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" && strings.Contains(s.Value, "slicelabels") {
			return
		}
	}
	t.Errorf("built without the tag slicelabels: %v", info.Settings)
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// loaded returns the expressions of recording rules by file and group: "a.yaml/first: up".
func loaded(t *testing.T, s *Server) string {
	t.Helper()
	groups, err := s.Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, g := range groups {
		for _, r := range g.Rules {
			out = append(out, fmt.Sprintf("%s/%s: %s", strings.TrimPrefix(g.File, RuleFolder+"/"), g.Name, r.Query))
		}
	}
	return strings.Join(out, ", ")
}

func group(name, strategy, expr string) string {
	return fmt.Sprintf("groups: [{name: %s, partial_response_strategy: %s, rules: [{record: r, expr: %q}]}]\n", name, strategy, expr)
}

func TestReload(t *testing.T) {
	s, err := Find(t).Start(t.Context(), ruler(query).
		with(RuleFolder+"/a/1.yaml", group("a", "abort", "up")).
		with(RuleFolder+"/b/1.yaml", group("b", "abort", "up")).
		with(RuleFolder+"/b/2.yaml", group("w", "warn", "up")))
	if err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	if got, want := loaded(t, s), "a/1.yaml/a: up, b/1.yaml/b: up, b/2.yaml/w: up"; got != want {
		t.Fatalf("loaded %s, want %s", got, want)
	}
	for _, step := range []struct {
		name    string
		a, b, w string // expressions; a text with a newline is a whole file
		status  int
		says    string
		want    string
	}{
		{"nothing has changed", "up", "up", "up", 200, "", "a/1.yaml/a: up, b/1.yaml/b: up, b/2.yaml/w: up"},
		{"a change", "up + 1", "up", "up", 200, "", "a/1.yaml/a: up + 1, b/1.yaml/b: up, b/2.yaml/w: up"},
		{"an expression that does not parse", "sum(", "up + 2", "up + 2", 500, "previous rule set restored",
			"a/1.yaml/a: up + 1, b/1.yaml/b: up, b/2.yaml/w: up + 2"},
		{"it is repaired", "up + 3", "up + 3", "up + 3", 200, "", "a/1.yaml/a: up + 3, b/1.yaml/b: up + 3, b/2.yaml/w: up + 3"},
		{"an unknown strategy", group("a", "foo", "up"), "up + 4", "up + 4", 500, RuleFolder + "/a/1.yaml: failed to unmarshal",
			"b/1.yaml/b: up + 4, b/2.yaml/w: up + 4"},
		{"no YAML", "a: b: c\n", "up + 5", "up + 5", 500, RuleFolder + "/a/1.yaml: yaml: ", "b/1.yaml/b: up + 5, b/2.yaml/w: up + 5"},
	} {
		t.Run(step.name, func(t *testing.T) { reload(t, s, step.a, step.b, step.w, step.status, step.says, step.want) })
	}
}

func reload(t *testing.T, s *Server, a, b, w string, status int, says, want string) {
	t.Helper()
	file := func(name, strategy, expr string) string {
		if strings.Contains(expr, "\n") {
			return expr
		}
		return group(name, strategy, expr)
	}
	if err := s.Put(map[string]string{
		RuleFolder + "/a/1.yaml": file("a", "abort", a), RuleFolder + "/b/1.yaml": file("b", "abort", b), RuleFolder + "/b/2.yaml": file("w", "warn", w),
	}); err != nil {
		t.Fatal(err)
	}
	before := metric(t, s, reloadTime)
	got, text, err := s.Reload(t.Context())
	if err != nil || got != status || !strings.Contains(text, says) || says == "" && text != "" {
		t.Errorf("answer %d %q (%v), want %d %q", got, text, err, status, says)
	}
	if groups := loaded(t, s); groups != want {
		t.Errorf("loaded %s, want %s", groups, want)
	}
	successful, later := metric(t, s, reloadSuccessful) == 1, metric(t, s, reloadTime) > before
	if successful != (status == 200) || later != (status == 200) {
		t.Errorf("metrics: successful %v, later time %v after status %d", successful, later, status)
	}
}

func metric(t *testing.T, s *Server, name string) float64 {
	t.Helper()
	value, err := s.Metric(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// The rules can be queried with every configuration of the server.
func TestServes(t *testing.T) {
	p := Find(t)
	cert, key := keyPair(t)
	web := func(more string) string {
		return "tls_server_config: {cert_file: /etc/thanos/certs/crt, key_file: /etc/thanos/certs/key" + more + "}\n"
	}
	for name, tc := range map[string]struct {
		args []string
		web  string
	}{
		"listenLocal":                         {args: []string{"--http-address=localhost:10902"}},
		"below a prefix":                      {args: []string{"--web.route-prefix=rules/", "--web.external-prefix=/x"}},
		"TLS":                                 {web: web("")},
		"TLS with certificates of clients":    {web: web(", client_auth_type: RequireAndVerifyClientCert, client_ca_file: /etc/thanos/certs/crt")},
		"gRPC with TLS":                       {args: grpcTLS},
		"gRPC with ciphers, one each":         {args: append(grpcTLS, "--grpc-server-tls-ciphers=TLS_AES_128_GCM_SHA256", "--grpc-server-tls-ciphers=TLS_AES_256_GCM_SHA384")},
		"gRPC with curves, one each":          {args: append(grpcTLS, "--grpc-server-tls-curves=X25519", "--grpc-server-tls-curves=CurveP256")},
		"nothing in the log but what matters": {args: []string{"--log.level=error", "--log.format=json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := ruler(append([]string{query}, tc.args...)...).with(ruleFile, group("a", "warn", "up")).
				with("/etc/thanos/certs/crt", cert).with("/etc/thanos/certs/key", key)
			if tc.web != "" {
				c.Args = append(c.Args, "--http.config=/etc/thanos/web_config/web-config.yaml")
				c = c.with("/etc/thanos/web_config/web-config.yaml", tc.web)
			}
			expect(t, p, c, "")
		})
	}
	for value, reason := range map[string]string{
		"--grpc-server-tls-ciphers=TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384": "invalid cipher suite: TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384",
		"--grpc-server-tls-ciphers=TLS_RSA_WITH_AES_128_CBC_SHA":                  "invalid cipher suite",
		"--grpc-server-tls-curves=X25519,CurveP256":                               "invalid curve: X25519,CurveP256",
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			expect(t, p, ruler(append([]string{query, value}, grpcTLS...)...).with("/etc/thanos/certs/crt", cert).with("/etc/thanos/certs/key", key), reason)
		})
	}
}

var grpcTLS = []string{"--grpc-server-tls-cert=/etc/thanos/certs/crt", "--grpc-server-tls-key=/etc/thanos/certs/key"}

func TestAFileThatNoPatternMatchesIsMissing(t *testing.T) {
	c := ruler(query).with(RuleFolder+"/a.yaml", group("a", "warn", "up")).with(ruleFile, group("a", "warn", "up")).with(RuleFolder+"/b.yaml", "groups: []")
	want := `thanos runs, but has not loaded ["` + RuleFolder + `/a.yaml"]`
	if err := Find(t).Check(t.Context(), c); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// Neither a running nor an exited server leaves a process, a folder or a port behind.
func TestNothingIsLeft(t *testing.T) {
	p := Find(t)
	t.Setenv("TMPDIR", t.TempDir())
	s, err := p.Start(t.Context(), ruler(query))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if s.cmd.ProcessState == nil {
		t.Error("the process was not waited for")
	}
	for _, port := range []int{s.http, s.grpc} {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Error(err)
			continue
		}
		l.Close()
	}
	if _, err := Program("/missing").Start(t.Context(), ruler(query)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing program: %v", err)
	}
	if err := p.Check(t.Context(), ruler()); err == nil {
		t.Error("accepted without a query")
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "thanostest-*")); err != nil || len(left) > 0 {
		t.Errorf("left are %q (%v)", left, err)
	}
}

// keyPair returns a self-signed certificate for servers and clients.
func keyPair(t *testing.T) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return block("CERTIFICATE", der), block("PRIVATE KEY", private)
}
