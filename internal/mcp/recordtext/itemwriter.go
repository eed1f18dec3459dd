package recordtext

// ItemWriter writes the items of a list within a budget (MS-65). Each item gets a share of
// the bytes that are left; what it does not use is left for the items after it.
type ItemWriter struct {
	left     int  // bytes that are left
	pending  int  // items that may still be written
	minShare int  // bytes of the smallest share
	ranked   bool // an item never gets a larger share than an earlier item that was cut
	maxShare int  // bytes of the smallest share of a cut item; 0 if none was cut
	text     []byte
	shown    int
	cut      bool // some item is shortened
}

// NewItemWriter returns a writer for at most items items in budget bytes. No item gets less
// than minShare bytes.
func NewItemWriter(budget, items, minShare int) *ItemWriter {
	return &ItemWriter{left: budget, pending: items, minShare: minShare}
}

// Add writes an item. It returns false when its handle, its title and a part of its text
// do not fit; no items can be added then. The handle of the first item is always written
// (MS-21).
func (w *ItemWriter) Add(it *Item) bool {
	share := max(w.minShare, w.left/max(1, w.pending))
	if w.ranked && w.maxShare > 0 {
		share = min(share, w.maxShare)
	}
	head := it.headSize()
	need := head
	if it.wholeSize() > min(share, w.left) {
		need += it.textSize()
	}
	share = max(need, share)
	w.pending--
	switch {
	case need <= w.left || w.shown == 0 && head <= w.left:
		share = min(share, w.left)
		text, cut := it.fit(w.text, share)
		if cut && (w.maxShare == 0 || share < w.maxShare) {
			w.maxShare = share
		}
		w.put(text, cut)
	case w.shown == 0:
		w.put(append(append(w.text, it.head[:it.handle]...), '\n'), true)
	default:
		w.pending = 0
		return false
	}
	return true
}

// IsOpen reports whether further items may be added.
func (w *ItemWriter) IsOpen() bool { return w.pending > 0 }

// Shown returns the number of items that were written.
func (w *ItemWriter) Shown() int { return w.shown }

// String returns the written items.
func (w *ItemWriter) String() string { return string(w.text) }

// put stores the text after an item was appended to it.
func (w *ItemWriter) put(text []byte, cut bool) {
	w.left -= len(text) - len(w.text)
	w.text = text
	w.shown++
	w.cut = w.cut || cut
}
