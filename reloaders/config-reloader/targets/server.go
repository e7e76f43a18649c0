package targets

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

const (
	// serverTimeout limits a request to Prometheus as a whole.
	serverTimeout = 30 * time.Second
	// maxAnswer and maxScraped limit the size of a response, and that of a target in it, in bytes. The
	// response is read target by target.
	maxAnswer  = 512 << 20
	maxScraped = 4 << 20
)

// Prometheus is the server beside config-reloader.
type Prometheus struct {
	// Targets is the URL of /api/v1/targets; nil if it is unknown.
	Targets *url.URL
	// Client has the credentials that reloads need, too.
	Client reload.ClientOptions
}

// scraped is a target of Prometheus.
type scraped struct {
	Pool       string `json:"scrapePool"`
	Discovered struct {
		Address string `json:"__address__"`
		Job     string `json:"job"`
		URL     string `json:"__meta_url"`
	} `json:"discoveredLabels"`
}

// job returns the name of the job. Early versions have no scrapePool in dropped targets.
func (s *scraped) job() string {
	if s.Pool != "" {
		return s.Pool
	}
	return s.Discovered.Job
}

// active calls each for the targets that Prometheus scrapes.
func (p Prometheus) active(ctx context.Context, each func(scraped) error) error {
	return p.targets(ctx, url.Values{"state": {"active"}}, "activeTargets", each)
}

// dropped calls each for targets of a job that the relabelings in Prometheus drop. Versions before 2.42
// pass those of other jobs, too.
func (p Prometheus) dropped(ctx context.Context, job string, each func(scraped) error) error {
	return p.targets(ctx, url.Values{"state": {"dropped"}, "scrapePool": {job}}, "droppedTargets", each)
}

func (p Prometheus) targets(ctx context.Context, query url.Values, list string, each func(scraped) error) error {
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	u := *p.Targets
	u.RawQuery = query.Encode()
	resp, err := p.Client.Get(ctx, &u, http.Header{"Accept": {"application/json"}})
	if err != nil {
		return fmt.Errorf("request the targets of Prometheus: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("request the targets of Prometheus: it answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	if err := decodeTargets(resp.Body, list, each); err != nil {
		return fmt.Errorf("read the targets of Prometheus: %w", err)
	}
	return nil
}

// capped limits the bytes that are read in total, and of one value to within a buffer of the reader.
type capped struct {
	from        io.Reader
	left, value int64
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 || c.value > maxScraped {
		return 0, errors.New("the response is too large")
	}
	n, err := c.from.Read(p)
	c.left -= int64(n)
	c.value += int64(n)
	return n, err
}

// decodeTargets reads {"data":{list:[TARGET,…],…},…} without having more than one target in memory.
//
// Errors: those of each, of the connection, another form, or the limits.
func decodeTargets(from io.Reader, list string, each func(scraped) error) error {
	in := &capped{from: bufio.NewReader(from), left: maxAnswer}
	dec := json.NewDecoder(in)
	return object(dec, in, func(key string) error {
		if key != "data" {
			return skip(dec)
		}
		return object(dec, in, func(key string) error {
			if key != list {
				return skip(dec)
			}
			if err := delimiter(dec, '['); err != nil {
				return err
			}
			for dec.More() {
				in.value = 0
				var one scraped
				if err := dec.Decode(&one); err != nil {
					return err
				}
				if err := each(one); err != nil {
					return err
				}
			}
			return delimiter(dec, ']')
		})
	})
}

// object reads an object; value reads the value of a key.
func object(dec *json.Decoder, in *capped, value func(key string) error) error {
	if err := delimiter(dec, '{'); err != nil {
		return err
	}
	for dec.More() {
		in.value = 0
		t, err := dec.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // keys are strings
		if err := value(key); err != nil {
			return err
		}
	}
	return delimiter(dec, '}')
}

func delimiter(dec *json.Decoder, want json.Delim) error {
	t, err := dec.Token()
	if err == nil && t != want {
		err = errors.New("it is not of the API of Prometheus")
	}
	return err
}

// skip reads a value that is not needed.
func skip(dec *json.Decoder) error {
	var ignored json.RawMessage
	return dec.Decode(&ignored)
}
