// Package controllers is the shell around the pure rooms: one reconciler a kind, and Setup, which says what wakes which of
// them. A reconcile reads a snapshot, asks the pure rooms what should be, applies it, and writes one status.
//
// It owns the mapping from events to reconciles; there is no polling. It must hold no decisions about listeners, values,
// templates or what may be deleted: those are made in gateway, values, render and controllers/internal/plan.
package controllers
