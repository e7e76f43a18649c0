package v1

import "errors"

// Decoding says what of a stored object could not be decoded. It is no part of the API:
// nothing sends or takes it.
type Decoding struct {
	// Faults are the fields of the spec and of the metadata that are left out, the first of
	// them if there are many; none of an object that is complete.
	Faults []DecodingFault `json:"-"`
	// LeftOut says that only the metadata is in memory, because all of it does not fit; the
	// fault says so too.
	LeftOut bool `json:"-"`
	// StatusLeftOut says that the status, which may have something, is not in memory: it must not be written.
	StatusLeftOut bool `json:"-"`
	// Packed is the compressed spec of an object whose Spec is empty; Size is the memory of the
	// whole object in bytes. Such an object must not be used but for its metadata and status.
	Packed string `json:"-"`
	Size   int    `json:"-"`
}

// DecodingFault is a field that an API server stores and that does not fit into its type.
type DecodingFault struct {
	// Field is the path as the user wrote it: "spec.endpoints[0].targetPort".
	Field string `json:"-"`
	// Reason says what is wanted, without the value.
	Reason string `json:"-"`
}

// Error returns field and reason in one line.
func (f DecodingFault) Error() string {
	if f.Field == "" {
		return f.Reason
	}
	return f.Field + ": " + f.Reason
}

// Located returns field and reason, so that package faults finds them.
func (f DecodingFault) Located() (field, reason string) { return f.Field, f.Reason }

// WholeSize returns the memory of the whole object in bytes if its spec is packed, and else 0.
func (d *Decoding) WholeSize() int { return d.Size }

// Unusable returns the faults, or one that says that the spec is packed: what uses the object has to ask for the whole
// one first.
func (d *Decoding) Unusable() []DecodingFault {
	if d.Packed != "" {
		return []DecodingFault{{Field: "spec", Reason: "is packed in memory"}}
	}
	return d.Faults
}

// GetDecoding returns what could not be decoded of the object that embeds it.
func (d *Decoding) GetDecoding() *Decoding { return d }

// StatusLeftOut reports whether the status of an object is empty only because it is not in memory.
func StatusLeftOut(object any) bool {
	o, ok := object.(interface{ GetDecoding() *Decoding })
	return ok && o.GetDecoding().StatusLeftOut
}

// Undecodable returns why an object could not be decoded as a whole, one DecodingFault for
// each field, joined; nil for one that is complete. An object with such an error must not be
// used but for its metadata.
func Undecodable(object any) error {
	o, ok := object.(interface{ GetDecoding() *Decoding })
	if !ok {
		return nil
	}
	var out []error
	for _, f := range o.GetDecoding().Unusable() {
		out = append(out, f)
	}
	return errors.Join(out...)
}
