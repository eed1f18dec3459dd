package recordtext

// ItemWriter writes the items of a list within a budget (MS-65). Each item gets a share of
// the bytes that are left; what it does not use is left for the items after it.
type ItemWriter struct {
	left    int  // bytes
	pending int  // items that may still be written
	least   int  // bytes of the smallest share
	ranked  bool // no item gets a larger share than a cut one before it
	most    int  // the smallest share of a cut item; 0: none was cut
	text    []byte
	shown   int
	cut     bool // some item is shortened
}

// NewItemWriter returns a writer for at most so many items in budget bytes. least is the
// smallest share of one item.
func NewItemWriter(budget, items, least int) *ItemWriter {
	return &ItemWriter{left: budget, pending: items, least: least}
}

// Add writes an item. It returns false when its handle, its title and a part of its text
// do not fit; no items can be added then. The handle of the first item is always written
// (MS-21).
func (w *ItemWriter) Add(it *Item) bool {
	share := max(w.least, w.left/max(1, w.pending))
	if w.ranked && w.most > 0 {
		share = min(share, w.most)
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
		if cut && (w.most == 0 || share < w.most) {
			w.most = share
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

// IsOpen reports that further items may be added.
func (w *ItemWriter) IsOpen() bool { return w.pending > 0 }

// Shown counts the items that were written.
func (w *ItemWriter) Shown() int { return w.shown }

// String returns the written items.
func (w *ItemWriter) String() string { return string(w.text) }

// put takes the text with an item appended.
func (w *ItemWriter) put(text []byte, cut bool) {
	w.left -= len(text) - len(w.text)
	w.text = text
	w.shown++
	w.cut = w.cut || cut
}
