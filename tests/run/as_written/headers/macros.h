/* Macros with the names that generated text uses. */
#define status 7
#define load 77
#define store(x) 78
#define grid 79
#define SQUARE(v) (PRODUCT(v, v) + shared - 80)
#define PRODUCT(a, b) ((a) * (b))
#define shared 80
#define alloc 81
#define bind 82
#define data 83
#define waits 84
#define idx 85
#define barrier 86
#define y 87
#define s 88
