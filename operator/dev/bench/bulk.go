package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// manyObjects is the number of objects from which they are written to etcd directly: an API server creates about 500 per
// second, etcd takes ten times as many, and 200,000 are needed.
const manyObjects = 2000

// store is etcd, with its HTTP gateway.
type store struct {
	url    string
	client *http.Client
}

// pair is an object as it is stored.
type pair struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
}

func newStore(url string) *store {
	return &store{url: url, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: creators}}}
}

func (s *store) call(ctx context.Context, what string, in, out any) (err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v3/kv/"+what, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd: %s: %s: %.300s", what, res.Status, raw)
	}
	return json.Unmarshal(raw, out)
}

// get returns the stored form of an object.
func (s *store) get(ctx context.Context, key string) ([]byte, error) {
	var out struct {
		Kvs []pair `json:"kvs"`
	}
	if err := s.call(ctx, "range", pair{Key: []byte(key)}, &out); err != nil {
		return nil, err
	}
	if len(out.Kvs) != 1 {
		return nil, fmt.Errorf("etcd: %d objects at %s", len(out.Kvs), key)
	}
	return out.Kvs[0].Value, nil
}

// put writes objects in one transaction, of at most 128.
func (s *store) put(ctx context.Context, all []pair) error {
	type operation struct {
		Put pair `json:"requestPut"`
	}
	var in struct {
		Success []operation `json:"success"`
	}
	for _, p := range all {
		in.Success = append(in.Success, operation{p})
	}
	var out struct {
		Succeeded bool `json:"succeeded"`
	}
	if err := s.call(ctx, "txn", in, &out); err != nil {
		return err
	}
	if !out.Succeeded {
		return errors.New("etcd: a transaction without a condition did not succeed")
	}
	return nil
}

// putAll writes the objects from one number to before another concurrently.
func (s *store) putAll(ctx context.Context, from, to int, encode func(i int) (pair, error), progress func(done int)) error {
	const most, bytesMost = 100, 1_000_000 // of a transaction; the limits are 128 and 1.5 MiB
	g, ctx := errgroup.WithContext(ctx)
	var next, done atomic.Int64
	next.Store(int64(from))
	write := func(batch []pair) error {
		if err := s.put(ctx, batch); err != nil {
			return err
		}
		progress(int(done.Add(int64(len(batch)))))
		return nil
	}
	for range 8 {
		g.Go(func() error {
			var batch []pair
			size := 0
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= to {
					break
				}
				p, err := encode(i)
				if err != nil {
					return err
				}
				if len(batch) == most || size+len(p.Value) > bytesMost {
					if err := write(batch); err != nil {
						return err
					}
					batch, size = nil, 0
				}
				batch, size = append(batch, p), size+len(p.Value)
			}
			if len(batch) == 0 {
				return ctx.Err()
			}
			return write(batch)
		})
	}
	return g.Wait()
}

// createMany stores objects as the API server stores the first one, which it has created and so checked.
func (b *controlPlane) createMany(ctx context.Context, kind resource, count int, namespace func(int) string, say func(string, ...any)) error {
	began := time.Now()
	if err := b.createOne(ctx, kind, 0, namespace); err != nil {
		return err
	}
	key := func(i int) string {
		return path.Join("/registry", kind.Group, kind.Resource, namespace(i), kind.name(i))
	}
	first, err := b.store.get(ctx, key(0))
	if err != nil {
		return err
	}
	err = b.store.putAll(ctx, 1, count, func(i int) (pair, error) {
		value, err := stored(first, kind.object(i), namespace(i))
		return pair{[]byte(key(i)), value}, err
	}, every(20_000, count, kind.Resource, say))
	if err != nil {
		return err
	}
	if err := b.await(ctx, kind, count); err != nil {
		return err
	}
	took := time.Since(began)
	say("stored %d %s in %s, %.0f per second", count, kind.Resource, took.Round(time.Second), float64(count)/took.Seconds())
	return nil
}

// every returns a function that prints the number of objects from time to time.
func every(step, count int, what string, say func(string, ...any)) func(int) {
	var said atomic.Int64
	return func(done int) {
		if at := int64(done / step); at > said.Load() && said.Swap(at) < at {
			say("%d of %d %s", done, count, what)
		}
	}
}

// stored returns an object in the form in which the API server has stored another one of its kind.
func stored(like []byte, obj object, namespace string) ([]byte, error) {
	var out, in map[string]json.RawMessage
	var meta map[string]any
	raw, err := json.Marshal(obj)
	if err := errors.Join(err, json.Unmarshal(like, &out), json.Unmarshal(raw, &in)); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(out["metadata"], &meta); err != nil {
		return nil, err
	}
	meta["name"], meta["namespace"], meta["labels"], meta["uid"] = obj.GetName(), namespace, obj.GetLabels(), uuid.NewString()
	if out["metadata"], err = json.Marshal(meta); err != nil {
		return nil, err
	}
	out["spec"] = in["spec"]
	return json.Marshal(out)
}

// await waits until the API server lists all objects of a kind.
func (b *controlPlane) await(ctx context.Context, kind resource, count int) error {
	for {
		var list metav1.PartialObjectMetadataList
		raw, err := b.crds[kind.GroupVersion()].Get().Resource(kind.Resource).Param("limit", "1").Do(ctx).Raw()
		if err == nil {
			err = json.Unmarshal(raw, &list)
		}
		if err != nil {
			return fmt.Errorf("list %s: %w", kind.Resource, err)
		}
		found := len(list.Items)
		if more := list.RemainingItemCount; more != nil {
			found += int(*more)
		}
		if found == count {
			return nil
		}
		if err := wait(ctx, time.Second); err != nil {
			return fmt.Errorf("%d of %d %s are listed: %w", found, count, kind.Resource, err)
		}
	}
}
