/* Lists of registers as operands of one instruction, by their number, for the macros of
 * `wgmma_n.h`. `CROQ_SUM(n)` is operand n; operands after the list are named by their numbers. */
#ifndef CROQ_CUDA_WGMMA_REGISTERS_H
#define CROQ_CUDA_WGMMA_REGISTERS_H

/* The operands' names in the assembly text. */
#define CROQ_NAMES_2 "%0, %1"
#define CROQ_NAMES_4 CROQ_NAMES_2 ", %2, %3"
#define CROQ_NAMES_6 CROQ_NAMES_4 ", %4, %5"
#define CROQ_NAMES_8 CROQ_NAMES_6 ", %6, %7"
#define CROQ_NAMES_10 CROQ_NAMES_8 ", %8, %9"
#define CROQ_NAMES_12 CROQ_NAMES_10 ", %10, %11"
#define CROQ_NAMES_14 CROQ_NAMES_12 ", %12, %13"
#define CROQ_NAMES_16 CROQ_NAMES_14 ", %14, %15"
#define CROQ_NAMES_18 CROQ_NAMES_16 ", %16, %17"
#define CROQ_NAMES_20 CROQ_NAMES_18 ", %18, %19"
#define CROQ_NAMES_22 CROQ_NAMES_20 ", %20, %21"
#define CROQ_NAMES_24 CROQ_NAMES_22 ", %22, %23"
#define CROQ_NAMES_26 CROQ_NAMES_24 ", %24, %25"
#define CROQ_NAMES_28 CROQ_NAMES_26 ", %26, %27"
#define CROQ_NAMES_30 CROQ_NAMES_28 ", %28, %29"
#define CROQ_NAMES_32 CROQ_NAMES_30 ", %30, %31"
#define CROQ_NAMES_34 CROQ_NAMES_32 ", %32, %33"
#define CROQ_NAMES_36 CROQ_NAMES_34 ", %34, %35"
#define CROQ_NAMES_38 CROQ_NAMES_36 ", %36, %37"
#define CROQ_NAMES_40 CROQ_NAMES_38 ", %38, %39"
#define CROQ_NAMES_42 CROQ_NAMES_40 ", %40, %41"
#define CROQ_NAMES_44 CROQ_NAMES_42 ", %42, %43"
#define CROQ_NAMES_46 CROQ_NAMES_44 ", %44, %45"
#define CROQ_NAMES_48 CROQ_NAMES_46 ", %46, %47"
#define CROQ_NAMES_50 CROQ_NAMES_48 ", %48, %49"
#define CROQ_NAMES_52 CROQ_NAMES_50 ", %50, %51"
#define CROQ_NAMES_54 CROQ_NAMES_52 ", %52, %53"
#define CROQ_NAMES_56 CROQ_NAMES_54 ", %54, %55"
#define CROQ_NAMES_58 CROQ_NAMES_56 ", %56, %57"
#define CROQ_NAMES_60 CROQ_NAMES_58 ", %58, %59"
#define CROQ_NAMES_62 CROQ_NAMES_60 ", %60, %61"
#define CROQ_NAMES_64 CROQ_NAMES_62 ", %62, %63"
#define CROQ_NAMES_68 CROQ_NAMES_64 ", %64, %65, %66, %67"
#define CROQ_NAMES_72 CROQ_NAMES_68 ", %68, %69, %70, %71"
#define CROQ_NAMES_76 CROQ_NAMES_72 ", %72, %73, %74, %75"
#define CROQ_NAMES_80 CROQ_NAMES_76 ", %76, %77, %78, %79"
#define CROQ_NAMES_84 CROQ_NAMES_80 ", %80, %81, %82, %83"
#define CROQ_NAMES_88 CROQ_NAMES_84 ", %84, %85, %86, %87"
#define CROQ_NAMES_92 CROQ_NAMES_88 ", %88, %89, %90, %91"
#define CROQ_NAMES_96 CROQ_NAMES_92 ", %92, %93, %94, %95"
#define CROQ_NAMES_100 CROQ_NAMES_96 ", %96, %97, %98, %99"
#define CROQ_NAMES_104 CROQ_NAMES_100 ", %100, %101, %102, %103"
#define CROQ_NAMES_108 CROQ_NAMES_104 ", %104, %105, %106, %107"
#define CROQ_NAMES_112 CROQ_NAMES_108 ", %108, %109, %110, %111"
#define CROQ_NAMES_116 CROQ_NAMES_112 ", %112, %113, %114, %115"
#define CROQ_NAMES_120 CROQ_NAMES_116 ", %116, %117, %118, %119"
#define CROQ_NAMES_124 CROQ_NAMES_120 ", %120, %121, %122, %123"
#define CROQ_NAMES_128 CROQ_NAMES_124 ", %124, %125, %126, %127"

/* The operands. */
#define CROQ_SUMS_2 CROQ_SUM(0), CROQ_SUM(1)
#define CROQ_SUMS_4 CROQ_SUMS_2, CROQ_SUM(2), CROQ_SUM(3)
#define CROQ_SUMS_6 CROQ_SUMS_4, CROQ_SUM(4), CROQ_SUM(5)
#define CROQ_SUMS_8 CROQ_SUMS_6, CROQ_SUM(6), CROQ_SUM(7)
#define CROQ_SUMS_10 CROQ_SUMS_8, CROQ_SUM(8), CROQ_SUM(9)
#define CROQ_SUMS_12 CROQ_SUMS_10, CROQ_SUM(10), CROQ_SUM(11)
#define CROQ_SUMS_14 CROQ_SUMS_12, CROQ_SUM(12), CROQ_SUM(13)
#define CROQ_SUMS_16 CROQ_SUMS_14, CROQ_SUM(14), CROQ_SUM(15)
#define CROQ_SUMS_18 CROQ_SUMS_16, CROQ_SUM(16), CROQ_SUM(17)
#define CROQ_SUMS_20 CROQ_SUMS_18, CROQ_SUM(18), CROQ_SUM(19)
#define CROQ_SUMS_22 CROQ_SUMS_20, CROQ_SUM(20), CROQ_SUM(21)
#define CROQ_SUMS_24 CROQ_SUMS_22, CROQ_SUM(22), CROQ_SUM(23)
#define CROQ_SUMS_26 CROQ_SUMS_24, CROQ_SUM(24), CROQ_SUM(25)
#define CROQ_SUMS_28 CROQ_SUMS_26, CROQ_SUM(26), CROQ_SUM(27)
#define CROQ_SUMS_30 CROQ_SUMS_28, CROQ_SUM(28), CROQ_SUM(29)
#define CROQ_SUMS_32 CROQ_SUMS_30, CROQ_SUM(30), CROQ_SUM(31)
#define CROQ_SUMS_34 CROQ_SUMS_32, CROQ_SUM(32), CROQ_SUM(33)
#define CROQ_SUMS_36 CROQ_SUMS_34, CROQ_SUM(34), CROQ_SUM(35)
#define CROQ_SUMS_38 CROQ_SUMS_36, CROQ_SUM(36), CROQ_SUM(37)
#define CROQ_SUMS_40 CROQ_SUMS_38, CROQ_SUM(38), CROQ_SUM(39)
#define CROQ_SUMS_42 CROQ_SUMS_40, CROQ_SUM(40), CROQ_SUM(41)
#define CROQ_SUMS_44 CROQ_SUMS_42, CROQ_SUM(42), CROQ_SUM(43)
#define CROQ_SUMS_46 CROQ_SUMS_44, CROQ_SUM(44), CROQ_SUM(45)
#define CROQ_SUMS_48 CROQ_SUMS_46, CROQ_SUM(46), CROQ_SUM(47)
#define CROQ_SUMS_50 CROQ_SUMS_48, CROQ_SUM(48), CROQ_SUM(49)
#define CROQ_SUMS_52 CROQ_SUMS_50, CROQ_SUM(50), CROQ_SUM(51)
#define CROQ_SUMS_54 CROQ_SUMS_52, CROQ_SUM(52), CROQ_SUM(53)
#define CROQ_SUMS_56 CROQ_SUMS_54, CROQ_SUM(54), CROQ_SUM(55)
#define CROQ_SUMS_58 CROQ_SUMS_56, CROQ_SUM(56), CROQ_SUM(57)
#define CROQ_SUMS_60 CROQ_SUMS_58, CROQ_SUM(58), CROQ_SUM(59)
#define CROQ_SUMS_62 CROQ_SUMS_60, CROQ_SUM(60), CROQ_SUM(61)
#define CROQ_SUMS_64 CROQ_SUMS_62, CROQ_SUM(62), CROQ_SUM(63)
#define CROQ_SUMS_68 CROQ_SUMS_64, CROQ_SUM(64), CROQ_SUM(65), CROQ_SUM(66), CROQ_SUM(67)
#define CROQ_SUMS_72 CROQ_SUMS_68, CROQ_SUM(68), CROQ_SUM(69), CROQ_SUM(70), CROQ_SUM(71)
#define CROQ_SUMS_76 CROQ_SUMS_72, CROQ_SUM(72), CROQ_SUM(73), CROQ_SUM(74), CROQ_SUM(75)
#define CROQ_SUMS_80 CROQ_SUMS_76, CROQ_SUM(76), CROQ_SUM(77), CROQ_SUM(78), CROQ_SUM(79)
#define CROQ_SUMS_84 CROQ_SUMS_80, CROQ_SUM(80), CROQ_SUM(81), CROQ_SUM(82), CROQ_SUM(83)
#define CROQ_SUMS_88 CROQ_SUMS_84, CROQ_SUM(84), CROQ_SUM(85), CROQ_SUM(86), CROQ_SUM(87)
#define CROQ_SUMS_92 CROQ_SUMS_88, CROQ_SUM(88), CROQ_SUM(89), CROQ_SUM(90), CROQ_SUM(91)
#define CROQ_SUMS_96 CROQ_SUMS_92, CROQ_SUM(92), CROQ_SUM(93), CROQ_SUM(94), CROQ_SUM(95)
#define CROQ_SUMS_100 CROQ_SUMS_96, CROQ_SUM(96), CROQ_SUM(97), CROQ_SUM(98), CROQ_SUM(99)
#define CROQ_SUMS_104 CROQ_SUMS_100, CROQ_SUM(100), CROQ_SUM(101), CROQ_SUM(102), CROQ_SUM(103)
#define CROQ_SUMS_108 CROQ_SUMS_104, CROQ_SUM(104), CROQ_SUM(105), CROQ_SUM(106), CROQ_SUM(107)
#define CROQ_SUMS_112 CROQ_SUMS_108, CROQ_SUM(108), CROQ_SUM(109), CROQ_SUM(110), CROQ_SUM(111)
#define CROQ_SUMS_116 CROQ_SUMS_112, CROQ_SUM(112), CROQ_SUM(113), CROQ_SUM(114), CROQ_SUM(115)
#define CROQ_SUMS_120 CROQ_SUMS_116, CROQ_SUM(116), CROQ_SUM(117), CROQ_SUM(118), CROQ_SUM(119)
#define CROQ_SUMS_124 CROQ_SUMS_120, CROQ_SUM(120), CROQ_SUM(121), CROQ_SUM(122), CROQ_SUM(123)
#define CROQ_SUMS_128 CROQ_SUMS_124, CROQ_SUM(124), CROQ_SUM(125), CROQ_SUM(126), CROQ_SUM(127)

/* The names of the seven operands after the list. */
#define CROQ_BEHIND_2(form, ...)                                                                   \
  form("%2", "%3", "%4", "%5", "%6", "%7", "%8", __VA_ARGS__)
#define CROQ_BEHIND_4(form, ...)                                                                   \
  form("%4", "%5", "%6", "%7", "%8", "%9", "%10", __VA_ARGS__)
#define CROQ_BEHIND_6(form, ...)                                                                   \
  form("%6", "%7", "%8", "%9", "%10", "%11", "%12", __VA_ARGS__)
#define CROQ_BEHIND_8(form, ...)                                                                   \
  form("%8", "%9", "%10", "%11", "%12", "%13", "%14", __VA_ARGS__)
#define CROQ_BEHIND_10(form, ...)                                                                  \
  form("%10", "%11", "%12", "%13", "%14", "%15", "%16", __VA_ARGS__)
#define CROQ_BEHIND_12(form, ...)                                                                  \
  form("%12", "%13", "%14", "%15", "%16", "%17", "%18", __VA_ARGS__)
#define CROQ_BEHIND_14(form, ...)                                                                  \
  form("%14", "%15", "%16", "%17", "%18", "%19", "%20", __VA_ARGS__)
#define CROQ_BEHIND_16(form, ...)                                                                  \
  form("%16", "%17", "%18", "%19", "%20", "%21", "%22", __VA_ARGS__)
#define CROQ_BEHIND_18(form, ...)                                                                  \
  form("%18", "%19", "%20", "%21", "%22", "%23", "%24", __VA_ARGS__)
#define CROQ_BEHIND_20(form, ...)                                                                  \
  form("%20", "%21", "%22", "%23", "%24", "%25", "%26", __VA_ARGS__)
#define CROQ_BEHIND_22(form, ...)                                                                  \
  form("%22", "%23", "%24", "%25", "%26", "%27", "%28", __VA_ARGS__)
#define CROQ_BEHIND_24(form, ...)                                                                  \
  form("%24", "%25", "%26", "%27", "%28", "%29", "%30", __VA_ARGS__)
#define CROQ_BEHIND_26(form, ...)                                                                  \
  form("%26", "%27", "%28", "%29", "%30", "%31", "%32", __VA_ARGS__)
#define CROQ_BEHIND_28(form, ...)                                                                  \
  form("%28", "%29", "%30", "%31", "%32", "%33", "%34", __VA_ARGS__)
#define CROQ_BEHIND_30(form, ...)                                                                  \
  form("%30", "%31", "%32", "%33", "%34", "%35", "%36", __VA_ARGS__)
#define CROQ_BEHIND_32(form, ...)                                                                  \
  form("%32", "%33", "%34", "%35", "%36", "%37", "%38", __VA_ARGS__)
#define CROQ_BEHIND_34(form, ...)                                                                  \
  form("%34", "%35", "%36", "%37", "%38", "%39", "%40", __VA_ARGS__)
#define CROQ_BEHIND_36(form, ...)                                                                  \
  form("%36", "%37", "%38", "%39", "%40", "%41", "%42", __VA_ARGS__)
#define CROQ_BEHIND_38(form, ...)                                                                  \
  form("%38", "%39", "%40", "%41", "%42", "%43", "%44", __VA_ARGS__)
#define CROQ_BEHIND_40(form, ...)                                                                  \
  form("%40", "%41", "%42", "%43", "%44", "%45", "%46", __VA_ARGS__)
#define CROQ_BEHIND_42(form, ...)                                                                  \
  form("%42", "%43", "%44", "%45", "%46", "%47", "%48", __VA_ARGS__)
#define CROQ_BEHIND_44(form, ...)                                                                  \
  form("%44", "%45", "%46", "%47", "%48", "%49", "%50", __VA_ARGS__)
#define CROQ_BEHIND_46(form, ...)                                                                  \
  form("%46", "%47", "%48", "%49", "%50", "%51", "%52", __VA_ARGS__)
#define CROQ_BEHIND_48(form, ...)                                                                  \
  form("%48", "%49", "%50", "%51", "%52", "%53", "%54", __VA_ARGS__)
#define CROQ_BEHIND_50(form, ...)                                                                  \
  form("%50", "%51", "%52", "%53", "%54", "%55", "%56", __VA_ARGS__)
#define CROQ_BEHIND_52(form, ...)                                                                  \
  form("%52", "%53", "%54", "%55", "%56", "%57", "%58", __VA_ARGS__)
#define CROQ_BEHIND_54(form, ...)                                                                  \
  form("%54", "%55", "%56", "%57", "%58", "%59", "%60", __VA_ARGS__)
#define CROQ_BEHIND_56(form, ...)                                                                  \
  form("%56", "%57", "%58", "%59", "%60", "%61", "%62", __VA_ARGS__)
#define CROQ_BEHIND_58(form, ...)                                                                  \
  form("%58", "%59", "%60", "%61", "%62", "%63", "%64", __VA_ARGS__)
#define CROQ_BEHIND_60(form, ...)                                                                  \
  form("%60", "%61", "%62", "%63", "%64", "%65", "%66", __VA_ARGS__)
#define CROQ_BEHIND_62(form, ...)                                                                  \
  form("%62", "%63", "%64", "%65", "%66", "%67", "%68", __VA_ARGS__)
#define CROQ_BEHIND_64(form, ...)                                                                  \
  form("%64", "%65", "%66", "%67", "%68", "%69", "%70", __VA_ARGS__)
#define CROQ_BEHIND_68(form, ...)                                                                  \
  form("%68", "%69", "%70", "%71", "%72", "%73", "%74", __VA_ARGS__)
#define CROQ_BEHIND_72(form, ...)                                                                  \
  form("%72", "%73", "%74", "%75", "%76", "%77", "%78", __VA_ARGS__)
#define CROQ_BEHIND_76(form, ...)                                                                  \
  form("%76", "%77", "%78", "%79", "%80", "%81", "%82", __VA_ARGS__)
#define CROQ_BEHIND_80(form, ...)                                                                  \
  form("%80", "%81", "%82", "%83", "%84", "%85", "%86", __VA_ARGS__)
#define CROQ_BEHIND_84(form, ...)                                                                  \
  form("%84", "%85", "%86", "%87", "%88", "%89", "%90", __VA_ARGS__)
#define CROQ_BEHIND_88(form, ...)                                                                  \
  form("%88", "%89", "%90", "%91", "%92", "%93", "%94", __VA_ARGS__)
#define CROQ_BEHIND_92(form, ...)                                                                  \
  form("%92", "%93", "%94", "%95", "%96", "%97", "%98", __VA_ARGS__)
#define CROQ_BEHIND_96(form, ...)                                                                  \
  form("%96", "%97", "%98", "%99", "%100", "%101", "%102", __VA_ARGS__)
#define CROQ_BEHIND_100(form, ...)                                                                 \
  form("%100", "%101", "%102", "%103", "%104", "%105", "%106", __VA_ARGS__)
#define CROQ_BEHIND_104(form, ...)                                                                 \
  form("%104", "%105", "%106", "%107", "%108", "%109", "%110", __VA_ARGS__)
#define CROQ_BEHIND_108(form, ...)                                                                 \
  form("%108", "%109", "%110", "%111", "%112", "%113", "%114", __VA_ARGS__)
#define CROQ_BEHIND_112(form, ...)                                                                 \
  form("%112", "%113", "%114", "%115", "%116", "%117", "%118", __VA_ARGS__)
#define CROQ_BEHIND_116(form, ...)                                                                 \
  form("%116", "%117", "%118", "%119", "%120", "%121", "%122", __VA_ARGS__)
#define CROQ_BEHIND_120(form, ...)                                                                 \
  form("%120", "%121", "%122", "%123", "%124", "%125", "%126", __VA_ARGS__)
#define CROQ_BEHIND_124(form, ...)                                                                 \
  form("%124", "%125", "%126", "%127", "%128", "%129", "%130", __VA_ARGS__)
#define CROQ_BEHIND_128(form, ...)                                                                 \
  form("%128", "%129", "%130", "%131", "%132", "%133", "%134", __VA_ARGS__)

/* The number of registers for a number of columns: of 32-bit accumulators, and of 16-bit ones, two
 * in each. */
#define CROQ_WORDS_OF_8 4
#define CROQ_WORDS_OF_16 8
#define CROQ_WORDS_OF_24 12
#define CROQ_WORDS_OF_32 16
#define CROQ_WORDS_OF_40 20
#define CROQ_WORDS_OF_48 24
#define CROQ_WORDS_OF_56 28
#define CROQ_WORDS_OF_64 32
#define CROQ_WORDS_OF_72 36
#define CROQ_WORDS_OF_80 40
#define CROQ_WORDS_OF_88 44
#define CROQ_WORDS_OF_96 48
#define CROQ_WORDS_OF_104 52
#define CROQ_WORDS_OF_112 56
#define CROQ_WORDS_OF_120 60
#define CROQ_WORDS_OF_128 64
#define CROQ_WORDS_OF_136 68
#define CROQ_WORDS_OF_144 72
#define CROQ_WORDS_OF_152 76
#define CROQ_WORDS_OF_160 80
#define CROQ_WORDS_OF_168 84
#define CROQ_WORDS_OF_176 88
#define CROQ_WORDS_OF_184 92
#define CROQ_WORDS_OF_192 96
#define CROQ_WORDS_OF_200 100
#define CROQ_WORDS_OF_208 104
#define CROQ_WORDS_OF_216 108
#define CROQ_WORDS_OF_224 112
#define CROQ_WORDS_OF_232 116
#define CROQ_WORDS_OF_240 120
#define CROQ_WORDS_OF_248 124
#define CROQ_WORDS_OF_256 128
#define CROQ_HALVES_OF_8 2
#define CROQ_HALVES_OF_16 4
#define CROQ_HALVES_OF_24 6
#define CROQ_HALVES_OF_32 8
#define CROQ_HALVES_OF_40 10
#define CROQ_HALVES_OF_48 12
#define CROQ_HALVES_OF_56 14
#define CROQ_HALVES_OF_64 16
#define CROQ_HALVES_OF_72 18
#define CROQ_HALVES_OF_80 20
#define CROQ_HALVES_OF_88 22
#define CROQ_HALVES_OF_96 24
#define CROQ_HALVES_OF_104 26
#define CROQ_HALVES_OF_112 28
#define CROQ_HALVES_OF_120 30
#define CROQ_HALVES_OF_128 32
#define CROQ_HALVES_OF_136 34
#define CROQ_HALVES_OF_144 36
#define CROQ_HALVES_OF_152 38
#define CROQ_HALVES_OF_160 40
#define CROQ_HALVES_OF_168 42
#define CROQ_HALVES_OF_176 44
#define CROQ_HALVES_OF_184 46
#define CROQ_HALVES_OF_192 48
#define CROQ_HALVES_OF_200 50
#define CROQ_HALVES_OF_208 52
#define CROQ_HALVES_OF_216 54
#define CROQ_HALVES_OF_224 56
#define CROQ_HALVES_OF_232 58
#define CROQ_HALVES_OF_240 60
#define CROQ_HALVES_OF_248 62
#define CROQ_HALVES_OF_256 64

#endif
