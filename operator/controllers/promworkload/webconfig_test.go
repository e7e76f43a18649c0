package promworkload

import (
	"testing"

	"github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v2"
)

// Each file can be decoded into the types of the servers, which reject unknown keys.
func TestWebConfigIsUnderstood(t *testing.T) {
	read := 0
	for name, s := range stories(t) {
		file, err := s.owner().WebConfig().File()
		if err != nil || len(file) == 0 {
			continue
		}
		read++
		var cfg web.Config
		if err := yaml.UnmarshalStrict(file, &cfg); err != nil {
			t.Errorf("%s: %v\n%s", name, err, file)
		}
		fields := s.owner().WebConfig().Fields
		if (fields.TLSConfig != nil) != (cfg.TLSConfig.TLSCertPath != "") {
			t.Errorf("%s: certificate %q", name, cfg.TLSConfig.TLSCertPath)
		}
	}
	if read == 0 {
		t.Error("no file was read")
	}
}
