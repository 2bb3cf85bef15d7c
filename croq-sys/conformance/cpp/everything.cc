/* All texts that a GPU can run as one file, because nvcc takes its second for each; and a table of
 * them, by which the same call runs either build. */
#include "handles.cc"
#include "barriers.cc"
#include "launches.cc"
#include "speed.cc"
#include "copies.cc"
#include "mbarriers.cc"
#include "primitives.cc"

namespace {

using shim = croq_u32 (*)(const croq_env *, void *const *memory, const croq_i64 *numbers);

struct entry {
  const char *name;
  shim call;
};

int *ints(void *memory) { return static_cast<int *>(memory); }

#define WITH_EXTENT(name)                                                                          \
  {#name, [](const croq_env *env, void *const *memory, const croq_i64 *n) {                        \
     return CONF(name)(env, ints(memory[0]), n[0], n[1]);                                          \
   }}

#define WITH_SOURCE(name, T)                                                                       \
  {#name, [](const croq_env *env, void *const *memory, const croq_i64 *n) {                        \
     return CONF(name)(env, static_cast<T *>(memory[0]), static_cast<const T *>(memory[1]), n[0],  \
                       n[1]);                                                                      \
   }}

const entry entries[] = {
    {"convert", CONF(convert)},
    {"compute", CONF(compute)},
    {"math", CONF(math)},
    {"updates", [](const croq_env *env, void *const *memory, const croq_i64 *) {
       return CONF(updates)(env, ints(memory[0]));
     }},
    {"rotate", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(rotate)(env, ints(memory[0]), n[0], n[1], n[2]);
     }},
    {"ids", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(ids)(env, ints(memory[0]), n[0], n[1], n[2], n[3], n[4], n[5] != 0);
     }},
    {"foreign", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(foreign)(env, static_cast<float *>(memory[0]), ints(memory[1]), n[0]);
     }},
    {"lanes", [](const croq_env *env, void *const *memory, const croq_i64 *) {
       return CONF(lanes)(env, ints(memory[0]));
     }},
    WITH_EXTENT(named),
    WITH_EXTENT(warps),
    WITH_EXTENT(leave),
    WITH_EXTENT(checks),
    WITH_EXTENT(stop_among_waiters),
    {"widths", [](const croq_env *env, void *const *memory, const croq_i64 *n) {
       return CONF(widths)(env, static_cast<unsigned char *>(memory[0]),
                           static_cast<const unsigned char *>(memory[1]), n[0]);
     }},
    WITH_SOURCE(zfill, unsigned char),
    WITH_SOURCE(ring, int),
};

}  // namespace

/* The entry of that name, or null. */
extern "C" shim CONF(find)(const char *name) {
  for (const entry &e : entries) {
    const char *a = e.name, *b = name;
    while (*a != 0 && *a == *b) ++a, ++b;
    if (*a == *b) return e.call;
  }
  return nullptr;
}
