package front

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/client"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// The entries of a story that are asked for at once, and that are answered unless the
// request says otherwise.
const (
	maxStory     = 10_000
	defaultStory = 1_000
)

// serveStory adds to the chosen validator's story of a job what each other validator saw
// of it. A job to which blocks did more than maxStory things is told as that one has it.
func (f *Front) serveStory(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	first := f.proxy.choose(r.Context())
	if first == "" || query.Get("node") != "" {
		f.proxy.ServeHTTP(w, r)
		return
	}
	var page, whole model.JobStory
	err := f.get(r.Context(), first, r.URL.Path, query, &page) // it judges the query
	if err == nil {
		err = f.get(r.Context(), first, r.URL.Path, url.Values{"limit": {strconv.Itoa(maxStory)}}, &whole)
	}
	if err != nil {
		api.Answer(w, err)
		return
	}
	if whole.Next == nil {
		page = cutStory(whole, f.seenByAll(r.Context(), whole), number(query, "offset", 0), number(query, "limit", defaultStory))
	}
	answer(w, http.StatusOK, page)
}

// number is a count of a query that was judged.
func number(query url.Values, name string, otherwise int) int {
	if n, err := strconv.Atoi(query.Get(name)); err == nil {
		return n
	}
	return otherwise
}

// seenByAll is what all validators saw of a job, in the order of heights.
func (f *Front) seenByAll(ctx context.Context, of model.JobStory) (seen []model.JobEvent) {
	told := askAll(ctx, f, f.validators(), askPatience, func(c *client.Client, ctx context.Context) (model.JobStory, error) {
		return c.JobStory(ctx, of.Job.ID.String(), 0, maxStory)
	})
	for _, n := range f.all() {
		for _, e := range told[n.Name].Story {
			if e.Seen() {
				seen = append(seen, e)
			}
		}
	}
	slices.SortStableFunc(seen, func(a, b model.JobEvent) int { return cmp.Compare(a.Height, b.Height) })
	return seen
}

// cutStory is a page of a whole story, with what was seen in place of what is in it of that.
func cutStory(whole model.JobStory, seen []model.JobEvent, offset, limit int) model.JobStory {
	done := slices.DeleteFunc(whole.Story, func(e model.JobEvent) bool { return e.Seen() })
	all := api.MergeStory(done, seen)
	end := min(offset+limit, len(all))
	if end < len(all) {
		whole.Next = &end
	}
	whole.Story = all[min(offset, len(all)):end]
	return whole
}
