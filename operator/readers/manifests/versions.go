package manifests

import (
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/conversion"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1beta1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
)

// version is a CRD version that the operator does not use internally.
type version struct {
	convert func(catalog.Object) (catalog.Object, error) // to the version that the operator uses
	reword  func(error) error                            // rewords errors about the converted object
}

// otherVersions are the versions that are converted.
var otherVersions = map[*catalog.Row]version{
	catalog.AlertmanagerConfigBeta: {
		convert: func(o catalog.Object) (catalog.Object, error) {
			return conversion.FromBeta(o.(*v1beta1.AlertmanagerConfig))
		},
		reword: conversion.BetaError,
	},
}

// worked returns the row of the version that the operator uses.
func worked(row *catalog.Row) *catalog.Row {
	if _, other := otherVersions[row]; other {
		return catalog.Of(row.Kind)
	}
	return row
}

// convert returns an object in the version that the operator uses.
func (r *reader) convert(row *catalog.Row, object catalog.Object) (catalog.Object, error) {
	v, other := otherVersions[row]
	if !other {
		return object, nil
	}
	id := place(row.Kind, object.GetNamespace(), object.GetName())
	r.objects.versions[id] = v
	return v.convert(object)
}

// AsWritten rewords the error of a result for the version in which the object was written.
func (o *Objects) AsWritten(of fragments.Result) fragments.Result {
	v, other := o.versions[place(of.Kind, of.Object.GetNamespace(), of.Object.GetName())]
	if other && of.Err != nil {
		of.Err = v.reword(of.Err)
	}
	return of
}
