"""The options about the picture of a sweep."""

from dpcalc.core.quantities import Quantity

PLOT = Quantity("plot", "draw a sweep into FILE.svg, FILE.png or FILE.pdf, or in the terminal (-)", kind="file")
PLOT_SIZE = Quantity("plot_size", "size of the picture in inches: width x height, as 3.3x2.5 for a column of a paper",
                     kind="text", metavar="WxH")
PLOT_TITLE = Quantity("plot_title", "title of the picture; none leaves out title and subtitle", kind="text",
                      metavar="TEXT|none")
PLOT_NAMES = Quantity("plot_names", "names of the curves with commas between them, in the order of the legend",
                      kind="text", metavar="A,B,C")
OPTIONS = (PLOT, PLOT_SIZE, PLOT_TITLE, PLOT_NAMES)
